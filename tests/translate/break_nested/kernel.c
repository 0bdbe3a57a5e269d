void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      if (j > i)
        break;
      if (j == 1)
        continue;
      s += 100;
    }
    s++;
  }
  *Y = s;
}
