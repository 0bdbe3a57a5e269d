#define HALF (TM / 2)
void f(int *Y) {
  int r[ROWS] = 0 ... ROWS;
  *(Y + r) = r * HALF;
}
