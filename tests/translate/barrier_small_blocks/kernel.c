void f(float *P __noalias, float *Q __noalias) {
  int r[T] = 0 ... T;
  int q[64] = 0 ... 64;
  float *p[T] = P + r;
  // stored, then loaded for use in another layout
  *p = r;
  float x[T] = *p;
  *(Q + r[:, newaxis] * 64 + q[newaxis, :]) = x[:, newaxis] + q[newaxis, :];
  // loaded, then overwritten, while another use may load it again
  float y[T] = *p;
  *p = y + 1;
  *(Q + T * 64 + q) = y[+];
  // loaded for nothing but what is stored
  *p += 2;
  float z[T] = *p;
  *p = z * 3;
}
