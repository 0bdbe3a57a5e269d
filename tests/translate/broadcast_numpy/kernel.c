void f(float *X, float *Y, float s) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  float x[8, 16] = *(X + i[:, newaxis] * 16 + j[newaxis, :]);
  float v[16] = *(X + j);
  float one[1, 1] = 2;
  *(Y + i[:, newaxis] * 16 + j[newaxis, :]) = x * v + s - i[:, newaxis] * one;
}
