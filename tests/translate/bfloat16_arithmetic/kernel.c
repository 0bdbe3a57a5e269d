void f(bfloat16 *X, bfloat16 *Z, float *Y) {
  int r[T] = 0 ... T;
  bfloat16 x[T] = *(X + r);
  bfloat16 z[T] = *(Z + r);
  *(Y + r) = x * z;
  *(Y + T + r) = x * z * z;
  *(Y + 2 * T + r) = x - 1;
}
