void f(float *X, float *Y, float *Z, float s) {
  int r[16] = 0 ... 16;
  int c[32] = 0 ... 32;
  int at[16, 32] = r[:, newaxis] * 32 + c[newaxis, :];
  float x[16, 32] = *(X + at);
  float y[16, 32] = *(Y + at);
  float sum[16] = y[:, +];
  // one division a row
  *(Z + at) = x / sum[:, newaxis];
  *(Z + 512 + at) = x / s;
  // the approximate one
  *(Z + 1024 + at) = x / y;
  // no division at all
  *(Z + 1536 + at) = x / sqrt(y);
  *(Z + 2048 + at) = (x - s) * (1 / sqrt(sum))[:, newaxis];
  // of integers and of double nothing changes
  *(Z + 2560 + at) = at / (c + 1)[newaxis, :] + x / (double)s;
}
