void f(long *Y, int x) {
  *Y = 0 - BIG;
  *(Y + 1) = x < BIG;
  *(Y + 2) = LEAST - 1;
  *(Y + 3) = -LEAST;
  *(Y + 4) = 0 - MASK;
  *(Y + 5) = x + BIG;
  *(Y + 6) = LEAST / x;
}
