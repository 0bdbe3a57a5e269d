void f(float *X, float *Y) {
  int i[TM / 2] = 0 ... (TM / 2);
  int j[4] = 0 ... 4;
  int k[TM*TN] = 0 ... (TM*TN);
  float one[1] = *X;
  float x[TM / 2, 4] = *(X + i[:, newaxis] * 4 + j[newaxis, :]);
  *(Y + i[:, newaxis] * 4 + j[newaxis, :]) = x * 2;
  *(Y + 16 + k) = one;
}
