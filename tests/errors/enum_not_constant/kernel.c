enum mode { FIRST = n };
__global__ void numbers(int* X) {
  *X = FIRST;
}
