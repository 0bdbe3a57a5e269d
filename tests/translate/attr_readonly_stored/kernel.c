void f(float *X __readonly, float *Y __writeonly) {
  int r[T] = 0 ... T;
  *(X + r) = *(Y + r);
}
