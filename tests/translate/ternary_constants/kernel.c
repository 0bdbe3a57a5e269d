void f(double *Y, long *Z, int n) {
  *Y = n ? D : (double)0.1;
  *(Y + 1) = (n ? 0 : 0.1) + (double)1;
  *(Y + 2) = max(0.1, 0.3) + (double)0;
  *(Y + 3) = (n ? 0.1 : 0.3) + 0.0f;
  *Z = n ? 1 + 1 : 3000000000;
  *(Z + 1) = max(D, 5000000000);
  *(Z + 2) = select(n > 5, D - 1, 1u);
  *(Z + 3) = D ?: 1l << 40;
  *(Z + 4) = -1 < (n ? 1u : 3);
}
