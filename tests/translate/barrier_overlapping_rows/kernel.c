void f(int *Y __noalias) {
  int r[T] = 0 ... T;
  int i[T, T] = r[:, newaxis] * 0 + r[newaxis, :];
  *(Y + 19 + r[:, newaxis] * T + r[newaxis, :]) = 2;
  *(Y + r[:, newaxis] * T + r[newaxis, :]) = ^i;
  // rows of 8 apart, 16 from one to the next
  *(Y + 100 + r[:, newaxis] * 16 + r[newaxis, :]) = i;
  *(Y + 300 + r[:, newaxis] * 16 + r[newaxis, :]) = i;
}
