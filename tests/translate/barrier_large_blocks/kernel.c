void f(float *P __noalias, float *Q __noalias) {
  int r[T] = 0 ... T;
  float *p[T] = P + r;
  *p = r;
  float x[T] = *p;
  *p = x + 1;
  *Q = x[+];
}
