void f(int *Y, int n, int m) {
  int s = 0;
  int step = n - 3;
  for (int i = 0; i < n * 2; i += step) s = s * 10 + i;
  *Y = s;
  s = 0;
  for (int i = n; i > m; i += m) s = s * 10 + i + 5;
  *(Y + 1) = s;
  s = 0;
  for (int i = n; i > 0; i -= step) s = s * 10 + i;
  *(Y + 2) = s;
}
