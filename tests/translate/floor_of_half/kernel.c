void f(half *H, int *N, float *Y, int *Z) {
  int r[T] = 0 ... T;
  half h[T] = *(H + r);
  int n[T] = *(N + r);
  *(Y + r) = floor(h) / 3;
  *(Y + T + r) = ceil(h) * 1000;
  *(Y + 2 * T + r) = fabs(h) + h;
  *(Z + r) = floor(n) / 3 + ceil(n) + fabs(n);
}
