void f(float *C, int *lock) {
  while (atomic_cas(lock, 0, 1) == 1)
    ;
  *C = *C + 1;
  atomic_xchg(lock, 0);
}
