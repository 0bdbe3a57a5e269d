void f(half *A, half *B, float *C) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  half a[T, T] = *(A + o);
  half b[T, T] = *(B + o);
  float c[T, T] = ^a @ b;
  c += a @ ^b;
  c += a[^1, ^0] @ trans(b);
  *(C + o) = c;
}
