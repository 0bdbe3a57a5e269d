void f(int *Y) {
#if min(TM, 16) == 8 && max(-1, TM) == TM
  *Y = TM;
#endif
}
