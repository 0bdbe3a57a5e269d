void f(float *X, float *Y, float *S, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float s[T] = 1;
  for (int i = 0; i < 3; i++) {
    s += *?(r >= n)p;
    p += T;
  }
  *?(r < n + 20)(Y + r) = s;
  float *ps[T] = S + r / 24;
  atomic_add(ps, s);
  atomic_add(Y + 50 + r / T, s);
}
