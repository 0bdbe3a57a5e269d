void f(float *Y, int n) {
  int r[T] = 0 ... T;
  float *p[T] = Y + r;
  *p += 1;
  *?(r < n)p *= 2;
  *(Y + T) -= 5;
}
