void f(float *X, half *H, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float s[T] = 0;
  half h[T] = 1;
  char c = 1;
  float m = -INFINITY;
  for (int i = 0; i < n; i++) {
    s += *p;
    h = h * 1.1;
    c = c * 3;
    m = max(m, (*p)[max]);
    p += T;
  }
  *(Y + r) = s + c;
  *(H + r) = h;
  *(Y + T) = m;
}
