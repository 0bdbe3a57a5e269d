// a product of doubles adds to an accumulator of double
__global__ void f(double* X, double* Y) {
  int r[4] = 0 ... 4;
  int at[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];
  double x[4, 4] = *(X + at);
  double y[4, 4] = *(Y + at);
  y += x @ x;
  *(Y + at) = y;
}
