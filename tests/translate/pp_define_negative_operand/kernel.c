#define HALF_OFF (float) OFF / 2
void f(float *Y, int n) {
  *Y = n OFF;
  *(Y + 1) = (n) OFF OFF;
  *(Y + 2) = (int) OFF;
  *(Y + 3) = 2 * -OFF;
  *(Y + 4) = HALF_OFF;
  *(Y + 5) = n SCALE;
#if 5 OFF == 2
  *(Y + 6) = 1;
#endif
}
