void f(half *X __readonly, float *Y __noalias, int n, int m) {
  int r[16] = get_program_id(0) * 16 + 0 ... 16;
  int at[16] = 0 ... 16;
  // rows that there are
  bool check[16] = r < m;
  half x[16, 16] = check[:, newaxis] ? *(X + at[:, newaxis] * 16 + at[newaxis, :]) : 0;
  half y[16, 16] = *(X + at[:, newaxis] * 16 + at[newaxis, :]);
  float sum[16, 16] = 0;
  for (int k = 0; k < n; k += 1)
    sum += x @ y;
  float first[16] = (at[newaxis, :] == 0 ? sum : 0)[:, +];
  *?(check) (Y + r) = first;
}
