void f(int *X, unsigned *U, long *L, int *Y, unsigned *V, long *M) {
  int r[T] = 0 ... T;
  int x[T] = *(X + r);
  *Y = x[+];
  *(Y + 1) = x[max];
  *V = (*(U + r))[+];
  *(V + 1) = (*(U + r))[max];
  *(V + 2) = (*(U + r))[min];
  *M = (*(L + r))[+];
  *(M + 1) = (*(L + r))[min];
}
