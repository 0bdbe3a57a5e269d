void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (i % 2)
      continue;
    s = s * 10 + i + 1;
  }
  *Y = s;
  int k = 0;
  while (k < n) {
    k++;
    if (k == 2)
      continue;
    s += k;
  }
  *(Y + 1) = s;
}
