void f(float *X, float *Y) {
  int i[A] = 0 ... A;
  int j[B] = 0 ... B;
  int k[C] = 0 ... C;
  float a[A, B, C] = *(X + i[:, newaxis, newaxis] * B * C + j[newaxis, :, newaxis] * C + k[newaxis, newaxis, :]);
  *(Y + j[:, newaxis, newaxis] * C * A + k[newaxis, :, newaxis] * A + i[newaxis, newaxis, :]) = PERM;
}
