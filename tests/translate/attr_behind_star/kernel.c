void f(float* __readonly __aligned(16) X, float * __noalias const Y, int __multipleof(4) n) {
  *(Y + 0 ... 4) = *(X + 0 ... 4) + n;
}
