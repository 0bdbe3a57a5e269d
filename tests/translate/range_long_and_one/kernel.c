void f(long *Y, long n) {
  int r[8] = 0 ... 8;
  int one[1] = 3 ... 4;
  *(Y + r) = n * r + one;
}
