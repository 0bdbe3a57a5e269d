void f(float *A, float *B, int *Y) {
  int y = 0;
  if (A)
    y += 1;
  if (!B)
    y += 2;
  if (A && B)
    y += 4;
  if (A != 0)
    y += 8;
  if (B == 0)
    y += 16;
  *Y = y;
}
