void f(half *X, half *Y, float *Z) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  *Y = x[+];
  *(Y + 1) = x[max];
  *Z = x[+];
  *(Z + 1) = x[min];
}
