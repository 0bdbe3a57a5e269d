void f(unsigned *U, unsigned *V) {
  int r[T] = 0 ... T;
  unsigned u[T] = *(U + r);
  *V = u[max];
  *(V + 1) = u[min];
}
