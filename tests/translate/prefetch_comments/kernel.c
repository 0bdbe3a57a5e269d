void f(half *A __noalias, half *B __noalias, float *C __noalias, int K, int lda) {
  int rm[16] = 0 ... 16;
  int rk[16] = 0 ... 16;
  float c[16, 16] = 0;
  half *pa[16, 16] = A + rm[:, newaxis] * lda + rk[newaxis, :];
  half *pb[16, 16] = B + rk[:, newaxis] * lda + rm[newaxis, :];
  // mask of the first tile
  bool check[16, 16] = rk[newaxis, :] < K;  // inside
  // fetch the first tiles
  half a[16, 16] = check ? *pa : 0;  // first a
  half b[16, 16] = *?(rk[:, newaxis] < K)pb;  // first b
  // reduction loop
  for (int k = K; k > 0; k -= 16) {
    c += a @ b;  // multiply
    // advance the pointers
    pa += 16;  // along k
    pb += 16 * lda;
    // next mask
    bool check[16, 16] = rk[newaxis, :] < k - 16;
    // prefetch the next tiles
    a = check ? *pa : 0;  // next a
    b = *?(rk[:, newaxis] < k - 16)pb;
  }
  *(C + rm[:, newaxis] * 16 + rm[newaxis, :]) = c;
}
