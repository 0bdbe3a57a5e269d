void f(int *Y, long *Z) {
  *Y = (double)16777217 + 0;
  *(Y + 1) = (double)2147483647 - 40;
  *(Y + 2) = 7 - (bfloat16)1e3f;
  *(Y + 3) = 1e-30f * 1e-30f ? 1 : 2;
  *(Y + 4) = 1e-30f * 1e-30f > 0 ? 1 : 2;
  *Z = (double)1e3f + 0xffffffff;
}
