void f(double *Y, half *H) {
  int r[T] = 0 ... T;
  *(Y + r) = 0.1;
  *(Y + 4) = 0.1;
  *(Y + 5) = 0.1 + 0.2;
  double x = 0.1;
  *(Y + 6) = x * 0.7;
  *?(r < 2)(Y + 8 + r) = 0.3;
  *(Y + 7) = 0.1f;
  *(H + r) = 0.1;
}
