__global__ void load(float* X, int N) {
  int rm[16] = 0 ... 16;
  bool check[16] = rm < N;
  *?check(X + rm) = 0;
}
