void f(half *A, float *C) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *(A + o);
  float c[T, T] = *(C + o);
  *(C + o) = dot(a, ^a, c);
}
