enum mode { FIRST = 2147483647, SECOND };
__global__ void numbers(int* X) {
  *X = SECOND;
}
