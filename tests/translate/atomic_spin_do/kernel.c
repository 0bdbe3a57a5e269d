void f(float *C, int *lock) {
  int taken;
  do {
    taken = atomic_cas(lock, 0, 1);
  } while (taken);
  *C = *C + 1;
  atomic_xchg(lock, 0);
}
