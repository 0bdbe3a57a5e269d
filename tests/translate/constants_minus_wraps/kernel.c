enum { LEAST = -2147483647 - 1 };
static const int TOP = 1 << 31;
static const long LONG_TOP = 1l << 63;
void f(long *Y) {
  *Y = -(1 << 31);
  *(Y + 1) = -(-2147483647 - 1);
  *(Y + 2) = -LEAST;
  *(Y + 3) = -TOP - 1;
  *(Y + 4) = -LONG_TOP;
  *(Y + 5) = -TOP > 0;
  *(Y + 6) = -(M + 1);
}
