void f(float *X, half *H, int n, bool twice) {
  int r[T] = 0 ... T;
  atomic_add(X + r, n);
  half h[T] = *(H + r);
  atomic_add(X + r, h, r > 3 && twice);
  atomic_add(X + T, h[+]);
}
