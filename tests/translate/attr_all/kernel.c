void f(float *X __noalias __readonly __aligned(16), __noalias float *Y __writeonly, int n __multipleof(4) __retune, __multipleof(16) int m) {
  int r[T] = 0 ... T;
  *(Y + m + r) = *(X + n + r);
}
