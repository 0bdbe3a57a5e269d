void f(double *X, double *Z, double *Y) {
  int r[T] = 0 ... T;
  double x[T] = *(X + r);
  double z[T] = *(Z + r);
  *(Y + r) = tanh(z);
  *(Y + T + r) = sigmoid(z);
  *(Y + 2 * T + r) = rsqrt(z * z);
  *(Y + 3 * T + r) = erf(z);
  *(Y + 4 * T + r) = pow(z * z, z);
  *(Y + 5 * T + r) = log2(z * z);
  *(Y + 6 * T + r) = exp2(z);
}
