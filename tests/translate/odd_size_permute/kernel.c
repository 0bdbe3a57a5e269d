void f(int *X, int *Y) {
  int i[3] = 0 ... 3;
  int j[4] = 0 ... 4;
  int k[5] = 0 ... 5;
  int x[3, 4, 5] = *(X + (i[:, newaxis] * 4 + j[newaxis, :])[:, :, newaxis] * 5 + k[newaxis, newaxis, :]);
  *(Y + (k[:, newaxis] * 3 + i[newaxis, :])[:, :, newaxis] * 4 + j[newaxis, newaxis, :]) = x[^2, ^0, ^1];
  *(Y + 60 + j) = x[+, :, +];
}
