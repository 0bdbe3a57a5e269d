void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float x[T] = (r < n) ? *p : 0;
  float sum[T] = 0;
  for (int k = n; k > 0; k -= T) {
    sum += x;
    p += T;
    x = (r < k - T) ? *p : 0;
  }
  float mean = sum[+] / n;
  p = X + r;
  float *q[T] = Y + r;
  x = (r < n) ? *p : 0;
  for (int k = n; k > 0; k -= T) {
    *?(r < k)q = x - mean;
    p += T;
    q += T;
    x = (r < k - T) ? *p : 0;
  }
}
