__global__ void sum(float* X, int N) {
  float acc = 0;
  for (int k = 0, k < N, k += 1)
    acc += *(X + k);
  *X = acc;
}
