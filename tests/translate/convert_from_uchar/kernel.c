void f(unsigned char *X, bool *A, char *B, unsigned char *C, short *D, unsigned short *E, int *F, unsigned *G, long *H, unsigned long *I, half *J, bfloat16 *K, float *L, double *M) {
  int r[T] = 0 ... T;
  unsigned char x[T] = *(X + r);
  *(A + r) = x;
  *(B + r) = (char)x;
  unsigned char c_[T] = x;
  *(C + r) = c_;
  *(D + r) = x;
  *(E + r) = (unsigned short)x;
  int f_[T] = x;
  *(F + r) = f_;
  *(G + r) = x;
  *(H + r) = (long)x;
  unsigned long i_[T] = x;
  *(I + r) = i_;
  *(J + r) = x;
  *(K + r) = (bfloat16)x;
  float l_[T] = x;
  *(L + r) = l_;
  *(M + r) = x;
}
