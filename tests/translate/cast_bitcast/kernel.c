void f(float *X, int *Y, half *H, double s) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  int i[T] = bitcast<int>(x);
  *(Y + r) = i;
  *(Y + T + r) = bitcast<int[T]>(x) & 2147483647;
  *(X + r) = bitcast<float>(i ^ (-2147483647 - 1));
  *(Y + 2 * T + r) = bitcast<unsigned short>(*(H + r));
  *(Y + 3 * T + r) = bitcast<long>(s) >> 32;
}
