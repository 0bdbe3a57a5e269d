void f(half *Q, float *P, float *M __noalias, float scale, int n) {
  int r[16] = 0 ... 16;
  for (int k = 0; k < n; k += 1) {
    half q[16, 16] = *(Q + r[:, newaxis] * 16 + r[newaxis, :]);
    float s[16, 16] = q @ ^q * scale;
    float m[16] = s[:, max];
    *(M + r) = m;
    *(P + r[:, newaxis] * 16 + r[newaxis, :]) = exp(s - m[:, newaxis]);
  }
}
