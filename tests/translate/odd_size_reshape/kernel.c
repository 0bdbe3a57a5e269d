void f(float *X, float *Y) {
  int i[3] = 0 ... 3;
  int j[4] = 0 ... 4;
  int k[12] = 0 ... 12;
  float x[3, 4] = *(X + i[:, newaxis] * 4 + j[newaxis, :]);
  float y[12] = x;
  *(Y + k) = y;
  *(Y + 12) = ((float[12])x)[+];
}
