void f(int *q, int *p, int *Y) {
  *Y = atomic_add(q, 1) && *p;
  *(Y + 1) = atomic_add(q + 1, 1) || *p;
  *(Y + 2) = atomic_add(q + 2, 1) ?: *p;
  *(Y + 3) = atomic_add(q + 3, 1) ? *p : *(p + 1);
  *(p + atomic_add(q + 4, 1)) += 1;
  *?(atomic_add(q + 5, 1) == 5)(p + 1) += 3;
  *(Y + 4) = 12 / atomic_add(q + 6, 1);
  *(Y + 5) = max(atomic_add(q + 7, 1), 4);
  *(Y + 6) = ((0 ... 4) * atomic_add(q + 8, 1))[+];
  *(Y + 7) = (*(p + atomic_add(q + 9, 1)))++;
}
