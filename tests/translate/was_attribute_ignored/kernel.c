void f(float *X __readonly, float *Y __writeonly) {
  int r[T] = 0 ... T;
  float y[T] = *(Y + r);
  *(X + r) = y * 2;
}
