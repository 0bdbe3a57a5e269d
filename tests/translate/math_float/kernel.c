void f(float *X, float *Z, float *Y) {
  int r[T] = 0 ... T;
  float x[T] = *(X + r);
  float z[T] = *(Z + r);
  *(Y + r) = exp(x);
  *(Y + T + r) = log(x);
  *(Y + 2 * T + r) = sqrtf(x);
  *(Y + 3 * T + r) = sqrt(x);
  *(Y + 4 * T + r) = sin(z);
  *(Y + 5 * T + r) = cos(z);
  *(Y + 6 * T + r) = log2(x);
  *(Y + 7 * T + r) = exp2(z);
  *(Y + 8 * T + r) = tanh(z);
  *(Y + 9 * T + r) = sigmoid(z);
  *(Y + 10 * T + r) = rsqrt(x);
  *(Y + 11 * T + r) = erf(z);
  *(Y + 12 * T + r) = pow(z * z, z);
}
