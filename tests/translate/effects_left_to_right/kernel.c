void f(int *q, int *Y, int n) {
  *Y = *q * 100 + atomic_add(q, 1) * 10 + *q;
  *(Y + 1) = atomic_xchg(q, n) - atomic_add(q, 5);
  *(Y + 2) = n * 100 + (n = *q) + n;
  *(Y + *q - 4) = atomic_add(q, 2);
  *q += atomic_xchg(q, 40);
  *(Y + 4) = *?(*q > 50)(q + atomic_xchg(q, 1) - 51);
  *(atomic_xchg(q, 0) + (Y + *q + 4)) = 9;
}
