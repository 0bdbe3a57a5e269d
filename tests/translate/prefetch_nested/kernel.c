void f(float *X, float *Y, int m, int n) {
  int r[T] = 0 ... T;
  for (int i = 0; i < m; i++) {
    float *p[T] = X + i * n + r;
    bool check[T] = r < n;
    float x[T] = check ? *p : -INFINITY;
    float most[T] = -INFINITY;
    for (int k = 0; k < n; k += T) {
      most = max(most, x);
      p += T;
      bool check[T] = r + k + T < n;
      x = check ? *p : -INFINITY;
    }
    *(Y + i) = most[max];
  }
}
