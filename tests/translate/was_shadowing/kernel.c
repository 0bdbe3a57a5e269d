void f(float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = 1;
  for (int i = 0; i < n; i++) {
    int x[T] = r * i;
    *(Y + T + r) = x;
  }
  *(Y + r) = x;
}
