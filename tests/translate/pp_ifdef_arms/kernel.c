__global__ void mm(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
#ifdef SDD
  float y[T] = *(X + lut + r);
#elif defined DSD
  float y[T] = *(X + r) * n;
#else
  float y[T] = *(Z + blocks * r);
#endif
#ifndef SDD
  y = y + 1;
#endif
  *(Y + r) = y;
}
