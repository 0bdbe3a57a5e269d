void f(float *Y, int n) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  int o[8, 16] = i[:, newaxis] * 16 + j[newaxis, :];
  *?(j < n)(Y + o) = i[:, newaxis];
  *?(j / 8)(Y + 128 + o) = 1;
  *?(n == 0)(Y + 128 + o) = 2;
  *?(n > 0)(Y + 384) = -7;
  *?(n < 0)(Y + 385) = -7;
  *?(i[:, newaxis] > j[newaxis, :])(Y + 256 + o) = 3;
}
