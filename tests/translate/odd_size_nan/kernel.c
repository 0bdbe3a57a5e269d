void f(TYPE *X, TYPE *Y) {
  int i[M] = 0 ... M;
  int j[N] = 0 ... N;
  TYPE x[M, N] = *(X + i[:, newaxis] * N + j[newaxis, :]);
  *(Y + i) = x[:, max];
  *(Y + M + i) = x[:, min];
  TYPE y[M] = x[:, +];
  *(Y + 2 * M + i) = y;
}
