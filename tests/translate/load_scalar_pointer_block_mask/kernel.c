void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  float x[T] = *?(r < n)X;
  float y = *?(n > 3)(X + 1);
  float z = *?(n > 30)(X + 2);
  *(Y + r) = x + y + z;
}
