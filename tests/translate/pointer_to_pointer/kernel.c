void f(float **P, float *X, float *Y) {
  int r[T] = 0 ... T;
  *P = X + 4;
  __debug_barrier();
  float *q = *P;
  *(Y + r) = *(q + r);
}
