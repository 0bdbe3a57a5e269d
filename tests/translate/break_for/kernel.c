void f(int *Y, int n, int m) {
  int s = 0;
  int i;
  for (i = 0; i < 100; i++) {
    if (i > n)
      break;
    s += i;
  }
  *Y = s;
  *(Y + 1) = i;
}
