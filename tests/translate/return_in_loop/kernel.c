void f(int *X, int *Y, int n) {
  for (int i = 0; i < n; i++) {
    if (*(X + i) == 0) {
      *Y = i;
      return;
    }
  }
  *Y = -1;
}
