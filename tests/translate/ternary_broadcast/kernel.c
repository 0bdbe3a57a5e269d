void f(float *Y, int n, float s) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  *(Y + i[:, newaxis] * 16 + j[newaxis, :]) = (i < n)[:, newaxis] ? j[newaxis, :] : s;
  float u = n > 3 ? n : s;
  int t[16] = n > 3 ? j : -j;
  *(Y + 128 + j) = t + u;
}
