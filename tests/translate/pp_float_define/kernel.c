void f(half *X, half *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + r) * SCALE;
}
