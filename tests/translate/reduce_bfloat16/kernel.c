void f(bfloat16 *X, bfloat16 *Y, float *Z) {
  int r[T] = 0 ... T;
  bfloat16 x[T] = *(X + r);
  *Y = x[+];
  *(Y + 1) = x[max];
  *Z = x[+];
  *(Z + 1) = x[min];
}
