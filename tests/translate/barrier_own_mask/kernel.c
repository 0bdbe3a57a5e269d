void f(int *Y __noalias, int *Z __noalias) {
  int r[4] = 0 ... 4;
  // the mask is the sum of rows, the first of which is overwritten
  *?((*(Y + r[:, newaxis] * 4 + r[newaxis, :]))[:, +] > 2)(Y + r) = r;
  // an index from the memory that the store goes to
  *(Z + *(Z + 3 - r)) = 7;
}
