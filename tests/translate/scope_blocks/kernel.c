void f(int *Y, int n, int m) {
  int x = n;
  {
    float x = 0.5;
    *Y = x * 4;
    {
      int x[16] = 0 ... 16;
      *(Y + 1) = x[+];
    }
    x += 1;
    *(Y + 2) = x * 2;
  }
  *(Y + 3) = x;
  if (n > 0) {
    int x = m;
    *(Y + 4) = x;
  }
  for (int x = 0; x < 2; x++)
    *(Y + 5) = x;
  *(Y + 6) = x;
}
