void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    for (int j = i; j < n; j += 2)
      s += i * j;
    s = s - 1;
    for (int j = n; j > i; j--)
      for (int k = 0; k < 2; k++)
        s++;
  }
  *Y = s;
}
