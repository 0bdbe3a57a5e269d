void f(int *X, int *Y, int n) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  while (n < 4) {
    x++;
    n++;
  }
  *(Y + r) = +x + ~x + !x;
}
