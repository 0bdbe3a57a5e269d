void f(int *Y, int n, int m) {
  int k = 3;
  int s = 0;
  for (int i = 0; i < n; i++) {
    s += k;
    int k = i * 10;
    s += k;
  }
  *Y = s;
  *(Y + 1) = k;
}
