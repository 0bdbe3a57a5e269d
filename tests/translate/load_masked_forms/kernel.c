void f(float *X, int *L, float *Y, int n) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  int o[8, 16] = i[:, newaxis] * 16 + j[newaxis, :];
  float *p[8, 16] = X + o;
  float a[8, 16] = *?(*(L + j))p;
  float b[8, 16] = *?(n)p;
  float c[8, 16] = *?(n > 99)p;
  float d[8, 16] = *?(j > 2 && j < max(n, 4) || j == 15)p;
  float e[8, 16] = *?((i < 3)[:, newaxis])p;
  *(Y + o) = a;
  *(Y + 128 + o) = b + c;
  *(Y + 256 + o) = d;
  *(Y + 384 + o) = e;
}
