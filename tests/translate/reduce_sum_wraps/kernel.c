// a sum of integers wraps around in their own width
__global__ void total(int* X, int* Y, unsigned* Z) {
  int x[4] = *(X + 0 ... 4);
  *Y = x[+];
  *Z = ((unsigned[4])x)[+];
}
