void f(int *Y, int n, int m) {
  int i = n, s = 0;
  while (i > 0) {
    s += i;
    i -= 2;
  }
  *Y = s;
  *(Y + 1) = i;
  while (n) {
    n--;
    int k = n;
    while (k > 0 && s < 100)
      {
        s += k;
        k--;
      }
  }
  *(Y + 2) = n;
  *(Y + 3) = s;
}
