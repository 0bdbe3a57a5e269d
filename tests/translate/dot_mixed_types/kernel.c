void f(half *A, float *B, char *D, float *C) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  float c[T, T] = *(A + o) @ *(B + o);
  half d[T, T] = *(D + o);
  *(C + o) = c + *(D + o) @ d;
}
