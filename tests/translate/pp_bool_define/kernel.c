void f(float *X, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
#ifdef MASK
  x = x + 1;
#endif
#if MASK
  x = x + 2;
#endif
#if CAUSAL
  x = x + (MASK ? 4 : 8);
#endif
  *(Y + r) = x;
}
