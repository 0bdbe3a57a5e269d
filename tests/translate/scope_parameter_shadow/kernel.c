void f(int *Y, int n, int m) {
  for (int i = 0; i < 2; i++) {
    float n = 0.25;
    n += i;
    *(Y + i) = n * 4;
  }
  *(Y + 2) = n;
}
