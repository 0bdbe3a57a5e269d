void f(int *X, int *Y) {
  int i[4] = 0 ... 4;
  int j[8] = 0 ... 8;
  int k[16] = 0 ... 16;
  int x[4, 8, 16] = *(X + i[:, newaxis, newaxis] * 128 + j[newaxis, :, newaxis] * 16 + k[newaxis, newaxis, :]);
  int a[16, 4, 8] = x[^2, ^0, ^1];
  int b[8, 16, 4] = ^x;
  int c[4, 16, 8] = x[^0, ^2, ^1];
  *(Y + k[:, newaxis, newaxis] * 32 + i[newaxis, :, newaxis] * 8 + j[newaxis, newaxis, :]) = a;
  *(Y + 512 + j[:, newaxis, newaxis] * 64 + k[newaxis, :, newaxis] * 4 + i[newaxis, newaxis, :]) = b;
  *(Y + 1024 + i[:, newaxis, newaxis] * 128 + k[newaxis, :, newaxis] * 8 + j[newaxis, newaxis, :]) = c;
}
