__global__ void pick(float* X, int n) {
  if n > 0:
    *X = 1;
  else:
    *X = 2;
  *X = 1 if n else 2;
  foreach (i) {
    *X = 3;
  }
}
