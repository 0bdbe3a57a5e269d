void f(float *X, float *Y) {
  int i[A] = 0 ... A;
  int j[B] = 0 ... B;
  int k[C] = 0 ... C;
  float x[A, B, C] = *(X + (i[:, newaxis] * B + j[newaxis, :])[:, :, newaxis] * C + k[newaxis, newaxis, :]);
  *(Y + j) = x[+, :, +];
  *(Y + B + k) = x[max, max, :];
  *(Y + B + C + i) = x[:, +, max];
  *(Y + B + C + A) = x[+, +, +];
  *(Y + B + C + A + 1) = x[min, min, min];
}
