void f(int *Y, int n, int m) {
  int i;
  for (i = 0; i < n; i += 2)
    ;
  *Y = i;
  int j = 9;
  for (; j > n; j--)
    *(Y + 1) = j;
  *(Y + 2) = j;
  for (i = 3; i < m; i++)
    *Y = 99;
  *(Y + 3) = i;
}
