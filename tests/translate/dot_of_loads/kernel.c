void f(half *A, half *B, float *C) {
  int i[T] = 0 ... T;
  int o[T, T] = i[:, newaxis] * T + i[newaxis, :];
  half *pa[T, T] = A + o;
  half *pb[T, T] = B + o;
  float c[T, T] = (*pa) @ (*pb);
  c = *pa @ (*pb + 1) + c;
  c = (float)*pa @ (float[T, T])2 - c;
  *(C + o) = c;
}
