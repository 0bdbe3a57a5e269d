void f(int *Y, int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += i;
  for (int i = n; i > 0; i--)
    s += i * 10;
  for (long i = 0; i < 2; i++)
    s += i;
  for (float i = 0; i < 1; i += 0.25)
    s += i * 4;
  *Y = s;
}
