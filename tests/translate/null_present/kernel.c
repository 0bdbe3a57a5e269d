void f(float *X, float *RPE, float *Y) {
  int r[T] = 0 ... T;
  bool has[T] = RPE;
  float bias[T] = has ? *(RPE + r) : 0;
  *(Y + r) = *(X + r) + bias;
}
