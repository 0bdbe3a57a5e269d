void f(int *Y, int n, int m) {
  int i = 1;
  for (; i < 9;)
    i += n;
  *Y = i;
  for (i = 0; i < 9;)
    i += n;
  *(Y + 1) = i;
  for (; i > m; i--)
    *(Y + 2) = i;
}
