void f(bfloat16 *X, bfloat16 *Y, bfloat16 s) {
  int r[T] = 0 ... T;
  bfloat16 x[T] = *(X + r);
  bfloat16 y[T] = x * s;
  *(Y + r) = y - x;
}
