void f(half *Q, half *K, float *P, float *M, int n, float scale) {
  int r[16] = 0 ... 16;
  int at[16, 16] = r[:, newaxis] * 16 + r[newaxis, :];
  half q[16, 16] = *(Q + at);
  half k[16, 16] = *(K + at);
  // the scale moves into the maximum and the exponential: a launch where it is not positive takes the exact code
  float s[16, 16] = q @ ^k * scale;
  s = (r < n)[newaxis, :] ? s : -F32_INFINITY;
  float m[16] = s[:, max];
  *(P + at) = exp(s - m[:, newaxis]);
  *(M + r) = m;
  // these scores are stored, too, so they are scaled where they stand
  float t[16, 16] = q @ k * scale;
  *(P + 256 + at) = exp(t - t[:, max][:, newaxis]);
  *(P + 512 + at) = t;
}
