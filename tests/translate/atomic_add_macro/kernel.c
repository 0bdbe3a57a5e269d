void f(TYPE *X, TYPE *S, int n) {
  int i[TM] = 0 ... TM;
  int j[TN] = 0 ... TN;
  TYPE *px[TM, TN] = S + i[:, newaxis] * TN + j[newaxis, :];
  bool check[TM, TN] = (j < n)[newaxis, :];
  TYPE x[TM, TN] = *(X + i[:, newaxis] * TN + j[newaxis, :]);
  atomic_add(TYPE, TM, TN)(px, x, check);
}
