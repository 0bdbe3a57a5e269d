void f(float *Y, float a, int n, half h) {
  *Y = exp(a);
  *(Y + 1) = log(n) + sqrt(n);
  *(Y + 2) = max(a, n) + min(n, 2) + abs(-n) + fabs(a);
  *(Y + 3) = exp(h);
  *(Y + 4) = fma(a, a, a);
  *(Y + 5) = floor(a) + ceil(a);
}
