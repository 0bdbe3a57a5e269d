#define x (x + y)
#define y x
#define CALL(f, a) f(a)
#define twice(a) (2 * a)
void f(int *P) {
  int z = CALL(twice, CALL(twice, 3));
#undef y
  int y = 5;
#undef x
  int x = 7;
#define x (x + y)
  *P = x;
  *(P + 1) = z;
}
