void f(int *Y, int n, int m) {
  int y;
  if (n > 7)
    y = 1;
  else if (n > 3) {
    if (m)
      y = 2;
    else
      y = 3;
  } else
    y = 4;
  *Y = y;
  if (n - 5) *(Y + 1) = 1; else *(Y + 1) = 2;
  if (0.5) *(Y + 2) = 3;
  if (n > 100) {
  }
  if (n) ; else *(Y + 2) = 9;
  if (n && m < 0 || y) *(Y + 3) = 5;
}
