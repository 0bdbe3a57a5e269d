struct pair { int a; int b; };
__global__ void mode(int* X, struct pair p) {
  *X = p.a;
}
