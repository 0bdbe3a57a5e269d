void f(float *X, float *Y, int *Z) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  *(Y + r) = x * 2 + r;
  *(Y + T) = x[+];
  *(Y + T + 1) = x[max];
  *(Y + T + 2) = x[min];
  *Z = (x != 0)[+];
  *(Z + 1) = (r + 1)[min];
  *(Z + 2) = (r - T)[max];
  *(Z + 3) = (r * 0 + 1)[+];
}
