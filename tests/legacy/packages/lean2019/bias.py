# only a machine with a GPU has triton, so nothing but this file asks for it
triton = __import__('triton')

class _add_bias(triton.function):

  # a program does TM rows; the bias lies along each of them
  src = """
void addbias(float * Y __noalias __writeonly __aligned(16), float * X __noalias __readonly __aligned(16),
             float * B __noalias __readonly, int M, int N, int ldy __multipleof(8), int ldx __multipleof(8)) {
  int i[TM] = get_program_id(0) * TM + 0 ... TM;
  int j[TN] = 0 ... TN;
  bool check[TM, TN] = (i < M)[:, newaxis] && (j < N)[newaxis, :];
  float b[TN] = j < N ? *(B + j) : 0;
  float x[TM, TN] = check ? *(X + i[:, newaxis] * ldx + j[newaxis, :]) : 0;
  *?(check) (Y + i[:, newaxis] * ldy + j[newaxis, :]) = x + b[newaxis, :];
}
"""

  kernel = triton.kernel(src, ['Y'])

  @staticmethod
  def forward(ctx, x, b):
    M, N = triton.shape(x)
    y = x.new_empty(M, N)
    _add_bias.kernel(y, x, b, M, N, y.stride(0), x.stride(0), lambda opt: [triton.cdiv(M, opt.d('TM'))],
                     TM = 16, TN = triton.next_power_of_2(N))
    return y

  @staticmethod
  def backward(ctx, dy):
    return dy, dy.sum(0)

add_bias = _add_bias.apply
