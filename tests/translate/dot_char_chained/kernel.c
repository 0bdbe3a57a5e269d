// a product of chars adds to an accumulator of int
__global__ void f(char* X, int* Y) {
  int r[4] = 0 ... 4;
  int at[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];
  char x[4, 4] = *(X + at);
  int y[4, 4] = *(Y + at);
  y += x @ x;
  *(Y + at) = y;
}
