void f(float *X, half *H, float *Y) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + r) * 0.1;
  *(Y + T + r) = *(H + r) * 0.1;
}
