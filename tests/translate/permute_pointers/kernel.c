void f(float *X, float *Y) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  float *p[8, 16] = X + i[:, newaxis] * 16 + j[newaxis, :];
  bool m[8, 16] = i[:, newaxis] < j[newaxis, :];
  *(Y + j[:, newaxis] * 8 + i[newaxis, :]) = ^m ? *(^p) : 0;
}
