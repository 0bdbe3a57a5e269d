void f(int *X, int *Y) {
  int r[4] = 0 ... 4;
  int i[4, 4] = r[:, newaxis] * 4 + r[newaxis, :];
  bool m[4, 4] = i < 6;
  // nothing outside of the first six elements of X may be touched where m asks for them only
  *(Y + i) = m ? ^(*(X + 1000000000 * (^i >= 6) + ^i)) : -1;
  *(Y + 16 + r) = r < 2 ? (*(X + 1000000000 * (i >= 8) + i))[:, +] : -1;
  *(Y + 20 + i) = i < 6 ? (*(X + 1000000000 * (r >= 2) + r))[:, newaxis] : -1;
  *(Y + 36 + r) = r < 1 ? (*(X + 1000000000 * (i >= 4) + i))[:, max] + *(X + 1000000000 * r) : -1;
  int s[2, 2] = r;
  *(Y + 40 + r) = r < 2 ? (int[4])(*(X + 1000000000 * (s >= 2) + s)) : -1;
  half h[4, 4] = 1;
  float p[4, 4] = i < 4 ? (half[4, 4])(*(X + 1000000000 * (i >= 4) + i)) @ h : -1;
  *(Y + 44 + i) = p;
}
