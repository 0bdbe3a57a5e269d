void f(int *Y, int n, int m) {
  int s = 0, i = -1;
  do {
    s++;
    i++;
  } while (i < 3);
  *Y = s;
  do
    s += 100;
  while (m > 0);
  *(Y + 1) = s;
  do {
    int d = s % n;
    s -= d + 1;
  } while (s > 50);
  *(Y + 2) = s;
}
