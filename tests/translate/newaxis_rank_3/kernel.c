void f(int *Y) {
  int i[2] = 0 ... 2;
  int j[4] = 0 ... 4;
  int k[8] = 0 ... 8;
  int ij[2, 4] = i[:, newaxis] * 10 + j[newaxis, :];
  int jk[4, 8] = j[:, newaxis] * 8 + k[newaxis, :];
  int o[2, 4, 8] = i[:, newaxis, newaxis] * 32 + jk[newaxis, :, :];
  *(Y + o) = ij[:, :, newaxis] * 10 + k[newaxis, newaxis, :];
  int ik[2, 8] = i[:, newaxis] * 100 + k[newaxis, :];
  *(Y + 64 + o) = ik[:, newaxis, :] + j[newaxis, :, newaxis] * 10;
}
