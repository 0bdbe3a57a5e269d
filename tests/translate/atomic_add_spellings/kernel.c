extern void atomic_add_float_16(float *, float, bool);
void f(float *X, int *I, float *S, int n) {
  int r[T] = 0 ... T;
  float *p[T] = X + r;
  float v[T] = r;
  bool m[T] = r < n;
  atomic_add_float_16(p, v, m);
  atomic_add(float, T)(p, v, m);
  atomic_add(p, v);
  atomic_add(p, v, m);
  atomic_add(I + r / 4, 1);
  f32_atomic_add(S, v[+]);
  f32_atomic_add(p, -v);
}
