void f(float *X, float *Y, int K, float s) {
  int r[T] = 0 ... T;
  K = K / SPLITK;
  s *= 2;
  X += K;
  for (int i = 0; i < 2; i++)
    Y += T;
  *(Y + r) = *(X + r) * s;
}
