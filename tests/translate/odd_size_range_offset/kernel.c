void f(int *Y) {
  int r[6] = 5 ... 11;
  *(Y + r) = r * r;
  *(Y + 15) = r[+];
}
