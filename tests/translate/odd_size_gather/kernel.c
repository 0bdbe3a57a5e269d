void f(float *X, float *Y, char *Z) {
  int i[5] = 0 ... 5;
  int j[3] = 0 ... 3;
  int k[15] = 0 ... 15;
  float x[5, 3] = *(X + i[:, newaxis] * 3 + j[newaxis, :]);
  float flat[15] = x;
  *(Y + k) = flat;
  // three rows of five
  *(Y + 15 + j[:, newaxis] * 5 + i[newaxis, :]) = (float[3, 5])flat;
  bool big[15] = (bool[15])(x > 0);
  *(Z + k) = big;
  float *p[15] = X + i[:, newaxis] * 3 + j[newaxis, :];
  *(Y + 30 + k) = *p;
}
