void f(int *Y, int n, int m) {
  int a = n;
  int b = a++;
  int c = --a;
  *Y = b;
  *(Y + 1) = c;
  *(Y + 2) = a + m--;
  *(Y + 3) = m;
}
