// ~ of unsigned blocks and scalars stays in its width
__global__ void invert(unsigned* X, unsigned* Y, unsigned long* Z) {
  int r[4] = 0 ... 4;
  unsigned x[4] = *(X + r);
  *(Y + r) = ~x;
  *(Z + r) = ~(unsigned long[4])x;
  *X = ~*X;
}
