void f(int *q, int *p, int *Y) {
  int n = 0;
  if (atomic_add(q, 1) == 0 && *p)
    n += 1;
  while (atomic_add(q + 1, 1) < 3 && *p)
    n += 10;
  for (int i = 0; i + atomic_add(q + 2, 1) < 5; i++)
    n += 100;
  do {
    n += 1000;
    if (n % 2000 > 1000)
      continue;
    n += 10000;
  } while (atomic_add(q + 3, 1) - *p < 2);
  while (atomic_xchg(q + 4, 0))
    n += 100000;
  *Y = n;
}
