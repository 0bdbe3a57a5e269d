void f(half *Y, int *Z, float s) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  half *p[8, 16] = Y + i[:, newaxis] * 16 + j[newaxis, :];
  *p = s;
  *(Z + i[:, newaxis] * 16 + j[newaxis, :]) = j + 0.75;
}
