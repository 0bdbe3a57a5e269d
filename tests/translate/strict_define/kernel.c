void f(double *Y, int n) {
  *Y = n - D;
  *(Y + 1) = D - 1;
  *(Y + 2) = n ? D : n;
  *(Y + 3) = D;
}
