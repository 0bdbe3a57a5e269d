void f(float *X, half *H, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  half h[T] = *(H + r);
  *(Y + r) = bitcast<int>(-x) < 0;
  *(Y + T + r) = 1 / -x;
  *(Y + 2 * T + r) = 1 / (float[T])(-h);
  *(Y + 3 * T + r) = exp(-x);
  *(Y + 4 * T + r) = 1 / (-x + -0.0f);
  *(Y + 5 * T) = 1 / -*X;
}
