void f(float *X, float *Y, int n) {
  float a = n > 2 ? *(X + 1) : *(X + 1000000000);
  float b = n > 2 && *(X + 2) > 0 ? 1 : n;
  float c = n == 0 ? *X : b;
  *Y = a;
  *(Y + 1) = b + c;
}
