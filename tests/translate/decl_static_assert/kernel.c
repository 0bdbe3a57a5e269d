_Static_assert(T % 8 == 0, "T must be a multiple of 8");
void f(float *X) {
  _Static_assert(sizeof(float) == 4 && T > 0, "");
  *X = T;
}
