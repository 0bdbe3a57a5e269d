void f(float *X, float *Y) {
  int r    [T * 2 / 4 + (1 << 3)] = 0 ... T;
  float x [T]= *(X + r);
  float one[1] = 1;
  *(Y + r) = x + one;
}
