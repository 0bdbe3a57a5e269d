__global__ void numbers(char* X) {
  *X = 'ab';
  *X = '\q';
}
