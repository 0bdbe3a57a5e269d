void f(double *Y, int n) {
  *Y = n ? 0 : 0.1;
  *(Y + 1) = (float)(n ? 0 : 0.1);
  *(Y + 2) = (float)min(0.1, 0.2);
  *(Y + 3) = (double)(float)-(n ? 0.1 : 0.2);
}
