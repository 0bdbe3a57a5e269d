void f(TYPE *X, TYPE *Y) {
  int i[M] = 0 ... M;
  int j[N] = 0 ... N;
  TYPE x[M, N] = *(X + i[:, newaxis] * N + j[newaxis, :]);
  *(Y + i) = x[:, +];
  *(Y + 8 + i) = x[:, max];
  *(Y + 16 + i) = x[:, min];
  *(Y + 24 + j) = x[+, :];
  *(Y + 40 + j) = x[max, :];
  *(Y + 56 + j) = x[min, :];
}
