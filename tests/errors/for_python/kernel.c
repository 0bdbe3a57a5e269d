__global__ void sum(float* X, int N) {
  float acc = 0;
  for k in range(N):
    acc += *(X + k);
  *X = acc;
}
