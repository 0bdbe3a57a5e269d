void f(int *Y, int pm) {
  int r[TM] = 0 ... TM;
  *(Y + r) = pm * TM + 0 ... TM;
  *(Y + TM + r) = 0 ... TM / 2;
  *(Y + 2 * TM + r) = 2 * -4 ... 4 - 1;
  *(Y + 3 * TM + r) = 0...TM % 3;
}
