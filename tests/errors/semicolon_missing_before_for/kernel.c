__global__ void sum(float* X, int N) {
  float acc = 0
  for (int i = 0; i < N; i += 1)
    acc += *(X + i);
  *X = acc;
}
