static const float zero = -0.0;
void f(float *Y, half *H, double *Z) {
  int r[T] = 0 ... T;
  float y[T] = -0.0;
  half h[T] = -0.0f;
  double z[T] = D;
  *(Y + r) = y;
  *(Y + T + r) = r > 1 ? 1 : D;
  *(Y + 2 * T) = 0.0 * -1;
  *(Y + 2 * T + 1) = -N;
  *(Y + 2 * T + 2) = zero;
  *(Y + 2 * T + 3) = N;
  *(H + r) = h;
  *(Z + r) = z;
  *(Z + T + r) = (double)-0.0f;
}
