__global__ void numbers(long* X) {
  *X = 99999999999999999999;
  *X = 0xFFFFFFFFFFFFFFFFF;
}
