void f(float *X, float *Y, int K) {
  int r[T] = 0 ... T;
  float s[T] = 0;
  for (int k = 0; k < K; k += T)
    s += *(X + k + r);
  *(Y + r) = s;
}
