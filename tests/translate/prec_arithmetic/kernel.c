void f(int *Y, int a, int b, int c) {
  *Y = a - b - c;
  *(Y + 1) = a / c * c;
  *(Y + 2) = a * c / b;
  *(Y + 3) = -a % c;
  *(Y + 4) = - -a;
  *(Y + 5) = -(b - a);
  *(Y + 6) = a - (b - c);
  *(Y + 7) = ~a + 1;
  *(Y + 8) = a % b * c;
  *(Y + 9) = +a - +b;
  *(Y + 10) = a * -b;
}
