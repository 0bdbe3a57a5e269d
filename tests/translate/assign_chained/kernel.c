void f(int *Y, int n, int m) {
  int a, c;
  char b;
  a = b = c = 300 + n;
  *Y = a;
  *(Y + 1) = c;
  *(Y + 2) = b;
  float x;
  int y;
  x = y = 2.75;
  *(Y + 3) = x * 4;
}
