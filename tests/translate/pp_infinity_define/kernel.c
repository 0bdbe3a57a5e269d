void f(half *X, half *Y) {
  int r[T] = 0 ... T;
  half x[T] = *(X + r);
  *(Y + r) = x > 0 ? x : -INFINITY;
}
