void f(float *X, float *Y) {
  int a[A] = 0 ... A;
  int b[B] = 0 ... B;
  int c[C] = 0 ... C;
  int d[D] = 0 ... D;
  int i[A, B, C, D] = ((a[:, newaxis, newaxis, newaxis] * B + b[newaxis, :, newaxis, newaxis]) * C + c[newaxis, newaxis, :, newaxis]) * D + d[newaxis, newaxis, newaxis, :];
  float x[A, B, C, D] = *(X + i);
  int o[D, B, A, C] = i[^3, ^1, ^0, ^2];
  *(Y + o) = x[^3, ^1, ^0, ^2] + 1;
  *(Y + A * B * C * D + a[:, newaxis] * D + d[newaxis, :]) = x[:, +, max, :];
}
