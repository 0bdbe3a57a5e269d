void f(bfloat16 *X, bfloat16 *N, bfloat16 *U, bool *A, char *B, unsigned char *C, short *D, unsigned short *E, int *F, unsigned *G, long *H, unsigned long *I, half *J, bfloat16 *K, float *L, double *M) {
  int r[T] = 0 ... T;
  bfloat16 x[T] = *(X + r);
  bfloat16 n[T] = *(N + r);
  bfloat16 u[T] = *(U + r);
  *(A + r) = x;
  *(B + r) = (char)n;
  unsigned char c_[T] = u;
  *(C + r) = c_;
  *(D + r) = n;
  *(E + r) = (unsigned short)u;
  int f_[T] = n;
  *(F + r) = f_;
  *(G + r) = u;
  *(H + r) = (long)n;
  unsigned long i_[T] = u;
  *(I + r) = i_;
  *(J + r) = x;
  *(K + r) = (bfloat16)x;
  float l_[T] = x;
  *(L + r) = l_;
  *(M + r) = x;
}
