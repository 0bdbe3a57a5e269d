void f(int *X, int *Y, int n) {
  int i = 0;
  if (n > 0) {
    while (true) {
      for (int j = 0; j < 3; j++) {
        *(Y + 1) = i * 3 + j;
        if (*(X + i * 3 + j) < 0)
          return;
      }
      i++;
      if (i == n)
        break;
    }
    *(Y + 2) = 7;
  }
  *Y = i;
  for (int j = 0; j < 4; j++)
    if (*(X + j) > 5)
      return;
}
