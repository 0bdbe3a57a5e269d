void f(float *X, int *Y, int n) {
  int r[16] = 0 ... 16;
  for (char i = 0; i < LAST; i += 2)  // never entered
    *(X + r) = 1;
  int i = 3;
  while (i > 5) {
    *(X + r) = 2;
    i++;
  }
  // the first turn is the only one
  int count = 0;
  do {
    if (count == 0) break;
    *(Y + r) = count;
    count += 3;
  } while (count < 1);
  // nothing is known here
  for (char j = 0; j < n; j += 2) {
    if (j == 4) *(Y + r) = j + i;
  }
}
