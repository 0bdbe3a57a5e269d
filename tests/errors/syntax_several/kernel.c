__global__ void copy(float* X, float* Y, int n) {
  int i = ;
  if (n and 3) {
    *X = 1
  } else {
    *Y = ;
  }
  for (int k = 0, k < n, k++) {
    *X = 2 k;
  }
  while (n {
    n = n -;
  }
  *Y = (n + 1;
  *X = 2];
}
