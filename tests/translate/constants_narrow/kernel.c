void f(double *X, double *Y, int *Z) {
  int r[T] = 0 ... T;
  double x[T] = *(X + r);
  *(Y + r) = x + ((bfloat16)1.5f + 0.1);
  *(Y + T + r) = x * (1.0f / 3.0f);
  *(Y + 2 * T + r) = x - (half)0.1f * 3;
  *(Y + 3 * T) = 1.0f / 30.0f;
  *(Z + r) = (float[T])((bfloat16[1])1.5f < (bfloat16[1])2.5f);
}
