void f(int *Y, int a, unsigned b, int c) {
  *Y = a + a;
  *(Y + 1) = b + b > 5;
  *(Y + 2) = a * c;
  long d = a * c;
  *(Y + 3) = d < 0;
}
