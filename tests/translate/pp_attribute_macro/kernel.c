#define IN __noalias __readonly __aligned(16)
void f(float *X IN, float *Y __noalias, int ld __multipleof(LD_POW2_DIV)) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + ld + r);
}
