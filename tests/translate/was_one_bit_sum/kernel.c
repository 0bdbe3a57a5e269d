void f(half *X, float *Y) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  *Y = (x > 0)[+];
  *(Y + 1) = x[+];
}
