/* C's integers: truncating division, wrapping, shifts, promotion of narrow types */
__global__ void integers(int *X, int *Y __noalias, char *Z, int n, long big) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  char z[T] = *(Z + r);
  *(Y + r) = x / n;
  *(Y + T + r) = x % n;
  *(Y + 2 * T + r) = x >> 3;
  *(Y + 3 * T + r) = z * z * z;
  *(Y + 4 * T + r) = (x * 65537 + z) << 5;
  *(Y + 5 * T + r) = (big * x) >> 32;
  *(Y + 6 * T + r) = -7 / 2 + -7 % 3 + n / -2;
  *(Y + 7 * T + r) = (x > 0) + (z > 0) + !x;
}
