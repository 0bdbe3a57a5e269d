__global__ void count(int* X, int n) {
  int m = ++n;
  *X = m;
}
