#define K 1
void f(int *P) {
  *P = K;
#undef K
#define K 2
  *(P + 1) = K;
#undef K
#undef NEVER
#ifndef K
  *(P + 2) = 3;
#endif
}
