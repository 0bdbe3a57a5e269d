void f(int *X, int *Y, long w) {
  *Y = *X < 1u;
  *(Y + 1) = *X < 1ul;
  *(Y + 2) = *X < 1;
  *(Y + 3) = (int)(w * 0x40000001) < 0;
  *(Y + 4) = (char)(*X + 130) > 127;
  *(Y + 5) = 10ul == -100ul;
  *(Y + 6) = 2147483647 != ~0u;
  *(Y + 7) = (bool)~0xffffffff;
  *(Y + 8) = -1l < 0u;
  *(Y + 9) = (unsigned)*X > 3;
}
