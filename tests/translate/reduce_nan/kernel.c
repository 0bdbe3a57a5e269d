void f(float *X, float *Y) {
  int i[4] = 0 ... 4;
  int j[16] = 0 ... 16;
  float x[4, 16] = *(X + i[:, newaxis] * 16 + j[newaxis, :]);
  *(Y + i) = x[:, max];
  *(Y + 4 + i) = x[:, min];
  *(Y + 8 + i) = x[:, +];
}
