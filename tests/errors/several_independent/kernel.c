#define ROW(p) (p + rm)
__global__ void many(float* X, int N, int N) {
  int rm[TM] = 0 ... TN;
  float x[TM] = *ROW(X)
      * scal;
  if (rm < N)
    x = sqrtt(x);
  *X = x[:, +];
  *(X + rm) = x;
}
