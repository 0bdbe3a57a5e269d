void f(int *Y, int n) {
  *Y = N / 2;
  *(Y + 1) = N % 4;
  *(Y + 2) = (N - 1) / 3 * n;
  *(Y + 3) = N / n;
  *(Y + 4) = N % n;
  *(Y + 5) = N / (T - 20);
#if N / 2 == -3 && N % 4 == -3
  *(Y + 6) = 1;
#endif
}
