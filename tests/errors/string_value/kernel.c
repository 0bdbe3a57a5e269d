__global__ void numbers(char* X) {
  *X = "a";
}
