void f(int *X, int *Y, int n) {
  int m;
  if (m = n - 4)
    *Y = m;
  while ((m = *X) != 0) {
    *(Y + 1) += m;
    X++;
  }
}
