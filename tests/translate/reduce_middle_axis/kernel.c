void f(float *X, float *Y) {
  int i[4] = 0 ... 4;
  int j[8] = 0 ... 8;
  int k[2] = 0 ... 2;
  float x[4, 8, 2] = *(X + i[:, newaxis, newaxis] * 16 + j[newaxis, :, newaxis] * 2 + k[newaxis, newaxis, :]);
  float y[4, 2] = x[:, +, :];
  *(Y + i[:, newaxis] * 2 + k[newaxis, :]) = y;
}
