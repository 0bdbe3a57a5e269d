void f(int *Y, int n, int m) {
  int s = 0;
  for (unsigned i = 0; i < n; i++)
    s += i;
  *Y = s;
  for (long i = 1l << 33; i > 1; i >>= 8)
    s++;
  *(Y + 1) = s;
  for (char c = 120; c > 0; c++)
    s++;
  *(Y + 2) = s;
  for (unsigned u = 3; u != -1; u--)
    s++;
  *(Y + 3) = s;
}
