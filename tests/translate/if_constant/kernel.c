void f(int *Y, int n, int m) {
  int y = n;
  if (K > 3)
    y = 10;
  if (K == 3)
    y = 20;
  else
    y += m;
  *Y = y;
}
