void f(float *X, float *Y, half *H) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  *(Y + r) = x < -1 ? INFINITY : x > 1 ? -INFINITY : F32_INFINITY - x;
  half h[T] = -F16_INFINITY;
  *(H + r) = r > 3 ? h : F16_INFINITY;
  float low = -INFINITY;
  *(Y + T) = max(low, x[max]);
}
