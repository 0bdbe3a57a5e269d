void f(float *X __attribute__((readonly, aligned(16))), float *Y __attribute__((noalias)) __attribute__((writeonly)), int n __attribute__((multipleof(8)))) {
  int r[T] = 0 ... T;
  *(Y + r) = *(X + n + r);
}
