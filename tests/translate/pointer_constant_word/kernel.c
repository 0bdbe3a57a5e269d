void f(__constant__ int *A, int __constant__ *B, int *Y) {
  int r[T] = 0 ... T;
  __constant__ int *pa[T] = A + r;
  *(Y + r) = *pa - *(B + r);
}
