void f(float *X, float *Y, int n) {
  int i[T] = 0 ... T;
  float s = 0;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      float x[T, T] = *(X + (a * n + b) * T * T + i[:, newaxis] * T + i[newaxis, :]);
      s = max(s, x[+, +]);
    }
  *Y = s;
}
