void f(int *Y, int n, int m) {
  int s = 0;
  while (true) {
    s++;
    if (s >= n)
      break;
    *(Y + 1) = s;
  }
  *Y = s;
}
