import triton

class _batchnorm(triton.function):

  # one program for each channel; element i of a channel is pixel i % HW of image i / HW
  src = """
void fwdbatchnorm(float *Y, float *MEAN, float *RSTD, float *X, float *G, float *B,
                  int C, int HW, int N, float eps) {
  int c = get_program_id(0);
  int rn[TN] = 0 ... TN;
  // mean
  float sum[TN] = 0;
  for (int i = 0; i < N; i = i + TN) {
    int n[TN] = i + rn;
    float *px[TN] = X + n / HW * C * HW + c * HW + n % HW;
    sum = sum + (n < N ? *px : 0);
  }
  float mean = (float)sum[+] / N;
  // variance
  float square[TN] = 0;
  for (int i = 0; i < N; i = i + TN) {
    int n[TN] = i + rn;
    float *px[TN] = X + n / HW * C * HW + c * HW + n % HW;
    float x[TN] = n < N ? *px - mean : 0;
    square = square + x * x;
  }
  float rstd = 1 / sqrtf((float)square[+] / N + eps);
  // result
  float g = *(G + c);
  float b = *(B + c);
  for (int i = 0; i < N; i = i + TN) {
    int n[TN] = i + rn;
    int off[TN] = n / HW * C * HW + c * HW + n % HW;
    bool check[TN] = n < N;
    float x[TN] = *?(check)(X + off);
    *?(check)(Y + off) = (x - mean) * rstd * g + b;
  }
  *(MEAN + c) = mean;
  *(RSTD + c) = rstd;
}
"""

  bwd_src = """
void bwdbatchnorm(float *DX, float *DG, float *DB, float *DY, float *X, float *G, float *MEAN, float *RSTD,
                  int C, int HW, int N) {
  int c = get_program_id(0);
  int rn[TN] = 0 ... TN;
  float mean = *(MEAN + c);
  float rstd = *(RSTD + c);
  float gamma = *(G + c);
  float accg[TN] = 0;
  float accb[TN] = 0;
  for (int i = 0; i < N; i += TN) {
    int n[TN] = i + rn;
    int off[TN] = n / HW * C * HW + c * HW + n % HW;
    bool check[TN] = n < N;
    float x[TN] = check ? *(X + off) : 0;
    float dy[TN] = check ? *(DY + off) : 0;
    accg += dy * (x - mean) * rstd;
    accb += dy;
  }
  float dg = accg[+];
  float db = accb[+];
  *(DG + c) = dg;
  *(DB + c) = db;
  for (int i = 0; i < N; i += TN) {
    int n[TN] = i + rn;
    int off[TN] = n / HW * C * HW + c * HW + n % HW;
    bool check[TN] = n < N;
    float xhat[TN] = (*?(check)(X + off) - mean) * rstd;
    float dx[TN] = gamma * rstd * (*?(check)(DY + off) - (db + xhat * dg) / N);
    *?(check)(DX + off) = dx;
  }
}
"""

  fwd_kernel = triton.kernel(src, ['Y'])
  bwd_kernel = triton.kernel(bwd_src, ['DX', 'DG', 'DB'])

  @staticmethod
  def forward(ctx, x, gamma, beta, eps):
    shape = triton.shape(x)
    dtype = x.dtype
    # allocate outputs
    N, C, H, W = shape[0], shape[1], shape[2], shape[3]
    y = x.new_empty(shape)
    mean = x.new_empty(C)
    rstd = x.new_empty(C)
    # execute kernels
    _batchnorm.fwd_kernel(y, mean, rstd, x, gamma, beta, C, H*W, N*H*W, eps,
                          lambda opt: [C], TN = 128)
    # save
    ctx.save_for_backward(x, gamma, mean, rstd)
    return y

  @staticmethod
  def backward(ctx, dy):
    x, gamma, mean, rstd = ctx.saved_tensors
    dy = dy.contiguous()
    dx = x.new_empty(x.shape)
    dgamma = x.new_empty(gamma.shape)
    dbeta = x.new_empty(gamma.shape)
    N, C, H, W = x.shape
    _batchnorm.bwd_kernel(dx, dgamma, dbeta, dy, x, gamma, mean, rstd, C, H*W, N*H*W,
                          lambda opt: [C], TN = 128)
    return dx, dgamma, dbeta, None

batchnorm = _batchnorm.apply
