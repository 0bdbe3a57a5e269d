#undef A
#define A 3
#define B 3
#undef B
#define B(x) 4
#undef C
#ifdef C
#define E 1
#else
#define E 0
#endif
void f(int *Y) {
  *Y = A;
  *(Y + 1) = B;
  *(Y + 2) = E;
}
