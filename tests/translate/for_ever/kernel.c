void f(int *Y, int n, int m) {
  int i = 0;
  for (;;) {
    i++;
    if (i == 4)
      break;
  }
  *Y = i;
  int k = 0;
  for (k = 3;; k++)
    if (k > n)
      break;
  *(Y + 1) = k;
}
