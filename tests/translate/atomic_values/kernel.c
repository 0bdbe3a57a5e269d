void f(int *X, int *Y) {
  int old = atomic_add(X, 5);
  *Y = old;
  *(Y + 1) = atomic_xchg(X + 1, 9);
  *(Y + 2) = atomic_cas(X + 2, 7, 1);
  *(Y + 3) = atomic_cas(X + 3, 7, 1);
}
