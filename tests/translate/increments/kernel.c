void f(int *Y, int n, int m) {
  int a = n;
  a++;
  ++a;
  m--;
  --m;
  *Y = a;
  *(Y + 1) = m;
}
