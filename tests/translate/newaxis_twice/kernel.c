void f(int *Y) {
  int i[4] = 0 ... 4;
  int j[8] = 0 ... 8;
  *(Y + i[:, newaxis] * 8 + j[newaxis, :]) = i[:][:, newaxis] + (j[newaxis, :])[:, :];
}
