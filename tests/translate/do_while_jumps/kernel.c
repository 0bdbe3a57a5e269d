void f(int *X, int *Y, int n) {
  int i = 0, s = 0;
  do {
    i++;
    if (i == 2)
      continue;
    if (s > 20)
      break;
    s += i;
  } while (*(X + i) > 0);
  *Y = s;
  *(Y + 1) = i;
  do {
    s = -s;
    // once
  } while (0);
  *(Y + 2) = s;
  while (*(X + i) > -9) {
    i++;
    if (i >= n)
      break;
  }
  *(Y + 3) = i;
}
