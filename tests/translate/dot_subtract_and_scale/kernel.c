void f(half *A, float *C) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *(A + o);
  float c[T, T] = *(C + o);
  c -= a @ a;
  c *= a @ a;
  *(C + o) = (a @ a)[+, :][newaxis, :] - c;
}
