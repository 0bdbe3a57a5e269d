void f(int *Y, int n, int m) {
  int s = 7;
  for (int i = 0; i < m; i++)
    s = 0;
  *Y = s;
  for (int i = 0; i < n; i++)
    ;
  for (int i = 0; i < n; i++) {
  }
  int a = n;
  for (; a > 0; a -= 2);
  *(Y + 1) = a;
}
