void f(float *X, half *H, float *Y, float *C __noalias, int n) {
  int r[16] = 0 ... 16;
  int at[16, 16] = r[:, newaxis] * 16 + r[newaxis, :];
  float c[16, 16] = 0;
  for (int k = 0; k < n; k += 1) {
    half h[16, 16] = *(H + at);
    float x[16, 16] = *(X + at);
    // exp2, as everything here waits for the tensor cores
    *(Y + at) = exp(x);
    c += h @ h;
  }
  // exp, as nothing does
  *(C + at) = exp(c);
}
