void f(long *X, unsigned *U, long *Y) {
  *Y = atomic_cas(X, 1, 2);
  *(Y + 1) = atomic_xchg(X, 5);
  *(Y + 2) = atomic_cas(U, 3, 4);
}
