void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (i > 2) {
      s += 1;
      if (i == m)
        continue; // only this one
      s += 10;
    } else if (i == 1)
      continue;
    s += 100;
    if (i < 5) {
      if (s > m * 1000)
        break;
    }
    s += 1000;
  }
  *Y = s;
}
