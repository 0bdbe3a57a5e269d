void f(float *X, float *Y) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  float x[8, 16] = *(X + i[:, newaxis] * 16 + j[newaxis, :]);
  int o[16, 8] = j[:, newaxis] * 8 + i[newaxis, :];
  *(Y + o) = x[^1, ^0] + ^x;
  *(Y + 128 + o) = trans(x);
  *(Y + 256 + o) = ^(x + 1);
  *(Y + 384 + o) = (^^^x)[^0, ^1];
}
