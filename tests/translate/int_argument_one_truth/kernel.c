void f(float *Y, long *Z, int n) {
  *Y = 2.0f / !n;
  *(Y + 1) = 2.0f / (n && 0);
  *(Y + 2) = !n + 2147483647 + (n > 0);
  atomic_add(Y + 3, 3.0f, (bool)n);
  n = n;
  long v[2] = n;
  *(Z + 0 ... 2) = v;
}
