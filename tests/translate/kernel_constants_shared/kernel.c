enum { TWO = 2 };
typedef int number;
static const int T = 8 * TWO;
void first(float *X) {
  *X = TWO;
}
void second(float *X, number n) {
  int r[T] = 0 ... T;
  *(X + r) = r * n;
}
