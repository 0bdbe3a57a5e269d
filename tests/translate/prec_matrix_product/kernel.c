void f(float *A, float *B, float *C, float *Y) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  float a[T, T] = *(A + o);
  float b[T, T] = *(B + o);
  float c[T, T] = *(C + o);
  *(Y + o) = a @ b + c;
  *(Y + T * T + o) = c - 2 * -a @ b @ ^c;
}
