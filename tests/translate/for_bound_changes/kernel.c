void f(int *Y, int n, int m) {
  int s = 0;
  int end = n;
  for (int i = 0; i < end; i++) {
    s += i;
    if (i == 2)
      end = 4;
  }
  *Y = s;
  s = 0;
  for (int i = 0; i < n; i++) {
    i += 1;
    s = s * 10 + i;
  }
  *(Y + 1) = s;
}
