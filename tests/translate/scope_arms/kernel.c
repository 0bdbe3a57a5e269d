void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
#ifdef SCALAR
  int off = n;
#else
  int off[T] = *(X + r) > 0 ? n : 0;
#endif
  *(Y + r) = off + r;
}
