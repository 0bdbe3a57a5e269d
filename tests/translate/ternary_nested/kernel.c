void f(float *A, float *B, float *C, float *Y, int n, int m) {
  int r[T] = 0 ... T;
  *(Y + r) = r < n ? r < m ? *(A + r) : *(B + r) : r > m ? *(C + r) * 2 : -1;
}
