void f(int *Y, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    if (i == 3) {
      break;
      sum += 1000;
    }
    if (i == 1) {
      continue;
      sum += 100;
    }
    sum += i;
  }
  *Y = sum;
  return;
  *Y = -1;
}
