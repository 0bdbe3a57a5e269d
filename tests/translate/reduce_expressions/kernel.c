void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float y[T] = *(X + r);
  bool check[T] = r < n;
  *Y = (check ? y : 0)[+];
  *(Y + 1) = log(exp(y)[+]);
  *(Y + 2) = (y > 0)[+];
  *(Y + 3) = (y * y)[+] / T;
  *(Y + 4) = (check ? *(X + r) : -INFINITY)[max];
}
