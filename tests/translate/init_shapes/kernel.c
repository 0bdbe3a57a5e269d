void f(float *X, float *Y) {
  int i[4] = 0 ... 4;
  int j[8] = 0 ... 8;
  int k[32] = 0 ... 32;
  int o[4, 8] = i[:, newaxis] * 8 + j[newaxis, :];
  float a[4, 8] = -1.5;
  float b[4, 8] = j;
  float c[4, 8] = i[:, newaxis];
  float d[32] = *(X + o);
  float e[4, 8] = d * 2;
  float one[1] = 3;
  float s = one;
  float g[4, 8];
  g = i[:, newaxis];
  *(Y + o) = a + b;
  *(Y + 32 + o) = c + s;
  *(Y + 64 + k) = d;
  *(Y + 96 + o) = e + g;
}
