__global__ void scale(float *X __noalias ALIGNED_X, int K MULTIPLE_K) {
  *(X + K) = 1;
}
