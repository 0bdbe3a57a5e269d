void f(half *H, float *Y, long *Z) {
  int r[T] = 0 ... T;
  half h[T] = *(H + r);
  float x = 0.1;
  unsigned u = 1;
  *(Y + r) = r > 3 ? h : x;
  *(Z + r) = r > 3 ? -1 : u;
  *(Z + T + r) = r > 3 ? r > 5 : 7;
}
