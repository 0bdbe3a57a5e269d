void f(int *Y __noalias, int n) {
  int r[8] = 0 ... 8;
  // all that is loaded, before anything is added
  atomic_add(Y + 7 - r, *(Y + r));
  // the old values, before anything is stored
  *(Y + 8 + r) = atomic_add(Y + 15 - r, 1);
  // tested at the top of each iteration
  while (atomic_add(Y + 16, *(Y + 16)) < n)
    *(Y + 17) += 1;
}
