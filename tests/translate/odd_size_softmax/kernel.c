__global__ void softmax(float *Y, float *X, int stride, int N) {
  int row = get_program_id(0);
  int r[TN] = 0 ... TN;
  bool check[TN] = r < N;
  float *px[TN] = X + row * stride + r;
  float x[TN] = check ? *px : -INFINITY;
  float z[TN] = exp(x - x[max]);
  *?(check)(Y + row * stride + r) = z / z[+];
}
