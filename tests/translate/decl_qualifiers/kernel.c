extern float exp(float);
static inline void f(const float *restrict X, float *const __restrict__ Y, const int n) {
  const int r[T] = 0 ... T;
  volatile float x[T] = *(X + r);
  float const scale = n;
  *(Y + r) = x * scale;
}
