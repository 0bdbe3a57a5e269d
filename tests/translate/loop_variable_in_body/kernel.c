void f(float *X, float *Y, int N) {
  int r[T] = 0 ... T;
  float s[T] = 0;
  for (int k = N; k > 0; k -= T) {
    float x[T] = r < k ? *(X + N - k + r) : 0;
    s = s * 2 + x;
  }
  *(Y + r) = s;
}
