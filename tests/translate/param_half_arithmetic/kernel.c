void f(half *X, half *Y, half s) {
  int r[T] = 0 ... T;
  half t = s * s;
  *(Y + r) = *(X + r) * s;
  *(Y + T + r) = t;
}
