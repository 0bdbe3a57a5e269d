void f(int *Y) {
#if '\xff' < 0
  *Y = '\xff';
  *(Y + 1) = '\200' + '\177';
#endif
}
