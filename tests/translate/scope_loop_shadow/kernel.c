void f(float *X, float *Y, int K, int M) {
  int i[TM] = 0 ... TM;
  int j[TK] = 0 ... TK;
  bool check[TM] = i < M;
  float s[TM] = 0;
  for (int k = 0; k < K; k += TK) {
    bool check[TM, TK] = (i < M)[:, newaxis] && (j < K - k)[newaxis, :];
    float x[TM, TK] = check ? *(X + i[:, newaxis] * K + k + j[newaxis, :]) : 0;
    float s_[TM] = x[:, +];
    s += s_;
  }
  *?(check)(Y + i) = s;
}
