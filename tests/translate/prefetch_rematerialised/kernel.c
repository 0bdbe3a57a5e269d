void conv(float *X, float *W, float *Y, int C, int R, int H) {
  int rp[T] = 0 ... T;
  int rf[T] = 0 ... T;
  int K = C * R;
  // the first step: channel and tap of each k
  int rk[T] = 0 ... T;
  int rc[T] = rk / R;
  int rr[T] = rk % R;
  float *px[T, T] = X + rc[newaxis, :] * H + rr[newaxis, :] + rp[:, newaxis];
  float *pw[T, T] = W + rk[:, newaxis] * T + rf[newaxis, :];
  float x[T, T] = (rk < K)[newaxis, :] ? *px : 0;
  float w[T, T] = (rk < K)[:, newaxis] ? *pw : 0;
  float acc[T, T] = 0;
  for (int k = 0; k < K; k += T) {
    acc += x @ w;
    int rk[T] = k + T + 0 ... T;
    int rc[T] = rk / R;
    int rr[T] = rk % R;
    bool inside[T] = rk < K;
    x = inside[newaxis, :] ? *(X + rc[newaxis, :] * H + rr[newaxis, :] + rp[:, newaxis]) : 0;
    pw += T * T;
    w = inside[:, newaxis] ? *pw : 0;
  }
  *(Y + rp[:, newaxis] * T + rf[newaxis, :]) = acc;
}
