void f(int *Y, int n) {
  *Y = N > 5 ? 1 << (N - 5) : 7;
  *(Y + 1) = Z != 0 ? 10 / Z : 7;
  *(Y + 2) = n > 40 ? 1 << 200000 : 3;
  *(Y + 3) = Z && n % Z;
  *(Y + 4) = n < 40 || n >> -1;
  *(Y + 5) = sizeof(1 / Z);
  if (Z)
    *(Y + 6) = n / Z;
  for (int i = 0; i < n; i += 1)
    if (i > 100)
      *(Y + 6) = i << 32;
  if (Z == 0)
    return;
  *(Y + 6) = n / Z;
}
