void f(half *Q __noalias, half *K __noalias, float *C __noalias, int N) {
  int pm = get_program_id(0);
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = 0 ... TN;
  half q[TM, 16] = *(Q + rm[:, newaxis] * 16 + (0 ... 16)[newaxis, :]);
  half *pk[TN, 16] = K + rn[:, newaxis] * 16 + (0 ... 16)[newaxis, :];
  float c[TM, 16] = 0;
  // the diagonal is crossed in the last iteration, as TM is at most TN
  N = min(N, (pm + 1) * TM);
  for (int n = 0; n < N; n += TN) {
    half k[TN, 16] = (n + rn < N)[:, newaxis] ? *pk : 0;
    float s[TM, TN] = q @ ^k;
    s = n + rn[newaxis, :] <= rm[:, newaxis] ? s : 0;
    c += (half[TM, TN])s @ k;
    pk += TN * 16;
  }
  *(C + rm[:, newaxis] * 16 + (0 ... 16)[newaxis, :]) = c;
}
