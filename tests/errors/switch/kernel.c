__global__ void mode(int* X, int n) {
  switch (n) {
    case 0: *X = 1; break;
    default: *X = 2;
  }
}
