void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float x[T] = *p;
  float sum[T] = 0;
  int k = n;
  while (k > 0) {
    sum += x;
    p += T;
    k -= T;
    x = *?(k > 0)p;
  }
  *Y = sum[+];
}
