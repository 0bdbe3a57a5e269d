__global__ void scale(float* X __readnly __aligned(16), int n __multipleoff(8)) {
  *X = n;
}
