void f(int *Y, TYPE *X) {
  int r[sizeof(float) * 4] = 0 ... (sizeof(float) * 4);
  *(Y + r) = sizeof(TYPE) + 10 * sizeof(bool) + 100 * sizeof(long) + 1000 * sizeof(float *);
}
