// Softmax of rows; a program has one whole row in registers.

#define MY_ROW(base, stride) (base + get_program_id(0) * stride + 0 ... LENGTH)

__global__ void forward(TYPE *Y __noalias __writeonly, TYPE *X __noalias __readonly,
                        int n, int ldy, int ldx) {
  bool inside[LENGTH] = (0 ... LENGTH) < n;
  float x[LENGTH] = inside ? *MY_ROW(X, ldx) : -F32_INFINITY;
  float e[LENGTH] = exp(x - x[max]);
  TYPE *py[LENGTH] = MY_ROW(Y, ldy);
  *?(inside) py = e / e[+];
}

__global__ void backward(TYPE *DX __noalias __writeonly, TYPE *DY __noalias __readonly,
                         TYPE *Y __noalias __readonly, int n, int lddx, int lddy, int ldy) {
  bool inside[LENGTH] = (0 ... LENGTH) < n;
  float y[LENGTH] = inside ? *MY_ROW(Y, ldy) : 0;
  float dy[LENGTH] = inside ? *MY_ROW(DY, lddy) : 0;
  TYPE *pdx[LENGTH] = MY_ROW(DX, lddx);
  *?(inside) pdx = y * (dy - (y * dy)[+]);
}
