void f(float *X, float *Y, int *Z, int n) {
  int r[T] = 0 ... T;
  *(Z + r) = r < n && *(X + r) > 0;
  *(Z + T + r) = r >= n || *(X + r) > 0;
  int i = 0;
  while (i < n && *(X + i) != 0)
    i += 1;
  *(Z + 2 * T) = i;
  if (n < 0 && *Y > 0)
    *(Z + 2 * T + 1) = 1;
}
