void f(float *A, float *B, float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = A + r;
  float x[T] = 0;
  if (n == 1)
    p = B + r;
  else
    x = *p;
  if (n > 0)
    x += *p * 2;
  *(Y + r) = x;
}
