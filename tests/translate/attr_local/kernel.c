void f(int *P, float *X, float *Y) {
  int r[T] = 0 ... T;
  int inc __multipleof(8) = *P;
  *(Y + r) = *(X + inc + r);
}
