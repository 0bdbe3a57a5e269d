void f(float *X, float *L, int n, float scale) {
  int r[16] = 0 ... 16;
  int c[32] = 0 ... 32;
  float m[16] = -F32_INFINITY;
  float l[16] = 0;
  for (int k = 0; k < n; k += 32) {
    float s[16, 32] = *(X + r[:, newaxis] * n + k + c[newaxis, :]) * scale;
    float m_new[16] = max(m, s[:, max]);
    l = l * exp(m - m_new) + exp(s - m_new[:, newaxis])[:, +];
    m = m_new;
  }
  // in natural units again
  *(L + r) = m + log(l);
}
