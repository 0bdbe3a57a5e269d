void f(float *X, float *Y, int n) {
  int i[8] = 0 ... 8;
  int j[16] = 0 ... 16;
  int o[8, 16] = i[:, newaxis] * 16;
  o += j[newaxis, :];
  float x[8, 16] = *(X + o);
  x += i[:, newaxis];
  x *= n;
  half h[16] = j;
  h *= 0.1;
  h += 2049;
  int k[16] = j;
  k *= 1.5;
  *(Y + o) = x;
  *(Y + 128 + j) = h;
  *(Y + 144 + j) = k;
}
