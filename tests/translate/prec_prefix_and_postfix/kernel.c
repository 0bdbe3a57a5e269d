void f(float *X, float *Y, int n) {
  int r[T] = 0 ... T;
  int zero[T] = 0;
  float x[T] = *(X + r);
  *Y = -x[max];
  *(Y + 1) = (int)x[+] / n;
  *(Y + 2) = -(-x)[max];
  *(Y + 3 + r[:, newaxis] + zero[newaxis, :]) = *(X + r)[:, newaxis];
  *(Y + 19 + r) = *X + 1 - -*(X + r);
}
