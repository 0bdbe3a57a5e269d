void f(int *X, float *Y, int n) {
  int r[T] = 0 ... T;
  int *px[T] = X + r;
  int x[T] = *px;
  *(Y + r) = (float)x / n;
  *(Y + T + r) = (float[T]) * px;
  *(Y + 2 * T + r) = (float[T]) - INFINITY;
  *(Y + 5 * T) = (float)x[+] / n;
  *(Y + 3 * T + r) = (float[T])n + 0.5;
  *(Y + 4 * T + r) = (float)-x + (float)(x + n) / 2;
}
