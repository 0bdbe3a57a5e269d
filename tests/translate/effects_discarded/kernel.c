void f(int *q, int *p, int n) {
  atomic_add(q, 1) + 1;
  -atomic_add(q + 1, 1);
  atomic_add(q + 2, 1) == 5;
  atomic_add(q + 3, 1) ? 1 : 2;
  atomic_add(q + 4, 1) && n;
  *(p + atomic_add(q + 5, 1));
  min(atomic_add(q + 6, 1), 3);
  for (int i = 0; i < 3; atomic_add(q + 7, 1) + 1)
    i++;
  n++ && *p;
  *p = n;
}
