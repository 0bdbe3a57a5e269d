void f(long *L, double *D, half *H, unsigned *U, int n) {
  int r[T] = 0 ... T;
  long a[T] = r < 2 ? 1l : 3l;
  *(L + r) = a * 0x7fffffff;
  *(L + T + r) = max(1l, 2l) * 0x7fffffff + r;
  unsigned u[T] = r < 2 ? 1u : 2u;
  *(U + r) = u - 3 > 5 ? 7u : 8u;
  double d[T] = n > 2 ? (double)0.1 : 0.7;
  *(D + r) = d;
  half h[T] = n > 2 ? (half)0.1 : 0.7;
  *(H + r) = h * h;
}
