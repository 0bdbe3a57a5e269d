void f(float *A, int *D, float *Y, int K) {
  int r[T] = 0 ... T;
  float *pa[T] = A + r;
  int *pd = D;
  float sum[T] = 0;
  // the first step, and the first operand
  int d = *pd;
  float a[T] = *pa;
  a = a * 0.5;
  for (int k = K; k > 0; k -= T) {
    sum += a;
    // the next operand, by the step that was loaded a turn ago
    a = *(pa + d);
    a = a * 0.5;
    pa += d;
    pd += 1;
    d = *pd;
  }
  *(Y + r) = sum;
}
