void f(half *X, half *Y, half s) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  half y[T] = x * s;
  *(Y + r) = y - x;
}
