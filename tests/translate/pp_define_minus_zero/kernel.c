void f(float *Y, float x) {
  *Y = 1 / (x * 0 + V);
  *(Y + 1) = 1 / (x * 0 + -W);
  *(Y + 2) = 1 / (float)V;
  *(Y + 3) = 1 / max(V, V);
}
