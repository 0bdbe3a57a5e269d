void f(char *X, unsigned char *U, int *Y) {
  int r[T] = 0 ... T;
  char x[T] = *(X + r);
  unsigned char u[T] = *(U + r);
  bool b[T] = x > 0;
  *Y = b[+];
  *(Y + 1) = x[+];
  *(Y + 2) = u[+];
  *(Y + 3) = x[max];
  *(Y + 4) = u[min];
  *(Y + 5) = u[max];
  *(Y + 6) = b[max] + b[min];
}
