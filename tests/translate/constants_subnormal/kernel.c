void f(float *X, float *Y) {
  float x = 1e-40f;
  *Y = x * 3.0f + *X;
  *(Y + 1) = *X > 0 ? S : 2;
  for (int i = 0; i < 3; i++) x *= *X;
  *(Y + 2) = x;
}
