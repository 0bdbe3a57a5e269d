void f(int *Y, int n) {
  *Y = n SHIFT;
  *(Y + 1) = n * STEP;
}
