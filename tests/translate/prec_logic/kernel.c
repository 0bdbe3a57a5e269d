void f(int *Y, int a, int b, int c) {
  *Y = a || b && 0;
  *(Y + 1) = !a == 0;
  *(Y + 2) = !(a == 0);
  *(Y + 3) = a > b ? 1 : b > c ? 2 : 3;
  *(Y + 4) = a < b ? 1 : b < c ? 2 : 3;
  *(Y + 5) = !a || c ? 5 : 6;
  *(Y + 6) = !!a + !!c;
}
