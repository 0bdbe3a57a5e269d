void f(int *Y, int n, int m) {
  int s = 0, j;
  int i;
  for (i = 0, j = n; i < j; i++, j--)
    s += j * 10 + i;
  *Y = s;
  i = 1, j = 2;
  *(Y + 1) = i + j;
}
