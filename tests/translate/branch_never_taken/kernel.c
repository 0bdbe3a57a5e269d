// equal whatever the arguments are: Triton folds these conditions late, and fails on the loads behind them
void f(float *X, int *Y, int lda, int K, char c) {
  int r[16] = 0 ... 16;
  if (lda * K != K * lda)
    *(X + r) = 1;
  int size = lda * K + 1;
  // what a macro may leave
  if (K * lda + 1 - size) {
    *(X + r) = *(X + r + 16);
  } else {
    *(X + r) = 2;
  }
  // the first and the third are decided, and K is not
  if (c > c)
    *(Y + r) = 1;
  else if (K > 3)
    *(Y + r) = r;
  else if (size > lda * K + 1)
    *(Y + r) = *(Y + r + 16);
  for (int i = 0; i < K; i++) {
    if (i + lda != lda + i) *(X + r) = *(X + r + 16);
  }
}
