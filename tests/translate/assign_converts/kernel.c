void f(float *X, int *Y) {
  int r[T] = 0 ... T;
  int x[T] = 0;
  char c = 0;
  bool b[T] = false;
  half h = 0;
  x = *(X + r);
  *(Y + r) = x;
  x = 7;
  c = 300;
  b = *(X + r);
  h = 2049;
  *(Y + T + r) = x + c + b;
  *(Y + 3 * T) = h;
  r = 5;
  *(Y + 2 * T + 0 ... T) = r;
}
