void f(float *A, float *B, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p = n > 0 ? A : B;
  float *q[T] = r < 4 ? B + r : p + r;
  *(Y + r) = *q;
}
