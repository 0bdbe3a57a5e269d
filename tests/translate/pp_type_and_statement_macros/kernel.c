#define STORE(p, v) *(p + r) = v;
#define CHECKED if (n > 2)
void f(TYPE *X, TYPE *Y, int n) {
  int r[T] = 0 ... T;
  TYPE x[T] = *(X + r);
  CHECKED STORE(Y, x * 2)
}
