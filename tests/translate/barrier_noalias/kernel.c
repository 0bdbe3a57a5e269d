void f(float *X __noalias, float *Y __noalias) {
  int r[T] = 0 ... T;
  *(Y + r) = r;
  float x[T] = *(X + T - 1 - r);
  *(Y + T + r) = x;
}
