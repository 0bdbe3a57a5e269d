import torch
import triton

# Lesson 2: matrix multiplication, with tiles of any data type and the tile shape left to the auto-tuner.

_src = """
#define STM 8
#define STN 8

__global__ void dot(TYPE * A __noalias __readonly __aligned(16),
                    TYPE * B __noalias __readonly __aligned(16),
                    TYPE * C __noalias __aligned(16),
                    float alpha,
                    int M __retune,
                    int N __retune,
                    int K __retune,
                    int lda __multipleof(8),
                    int ldb __multipleof(8),
                    int ldc __multipleof(8)) {
      // prologue
      int ridx = get_program_id(0);
      int ridy = get_program_id(1);
      int gridx = M / TM;
      int gridy = N / TN;
      // swizzle for better L2 performance
      int rid = ridx + ridy * gridx;
      ridx = rid / gridy;
      ridy = rid % gridy;
      int rm[TM] = ridx * TM + 0 ... TM;
      int rn[TN] = ridy * TN + 0 ... TN;
      int rk[TK] = 0 ... TK;
      // pointers to operands
      TYPE* pa[TM, TK] = A + rk[newaxis, :] + rm[:, newaxis] * lda;
      TYPE* pb[TK, TN] = B + rk[:, newaxis] * ldb + rn[newaxis, :];
      // prefetches operands
      TYPE a[TM, TK] = *pa;
      TYPE b[TK, TN] = *pb;
      // reduction loop
      float acc[TM, TN] = 0;
      for(int k = K; k > 0; k -= TK){
        acc += a @ b;
        bool checkk[TK] = k > TK;
        pa += TK;
        pb += TK*ldb;
        a = *?(checkk[newaxis, :])pa;
        b = *?(checkk[:, newaxis])pb;
      }
      acc = acc * alpha;
      TYPE c[TM, TN] = acc;
      // epilogue
      TYPE* pc[TM, TN] = C + rn[newaxis, :] + rm[:, newaxis] * ldc;
      *pc = c;
}
"""


class _dot(torch.autograd.Function):
    @staticmethod
    def make_kernel(device, dtype):
        key = (device, dtype)
        cache = _dot.cache
        if key not in cache:
            defines = {'TYPE': dtype, 'TM': [32, 64], 'TN': [32, 64], 'TK': [16]}
            cache[key] = triton.kernel(_src, defines=defines, num_warps=[4])
        return cache[key]

    @staticmethod
    def call(a, b, alpha=1., bench=0):
        (M, K), (_, N) = a.shape, b.shape
        c = triton.empty([M, N], dtype=a.dtype)
        kernel = _dot.make_kernel(a.device, a.dtype)
        grid = lambda opt: (triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN')))
        time = kernel(a, b, c, alpha, M, N, K, a.stride(0), b.stride(0), c.stride(0), grid=grid, bench=bench)
        return time if bench else c

    @staticmethod
    def forward(ctx, a, b, alpha):
        ctx.save_for_backward(a, b)
        ctx.alpha = alpha
        return _dot.call(a, b, alpha)

    @staticmethod
    def backward(ctx, dc):
        a, b = ctx.saved_tensors
        dc = dc.contiguous()
        da = _dot.call(dc, b.t().contiguous(), ctx.alpha)
        db = _dot.call(a.t().contiguous(), dc, ctx.alpha)
        return da, db, None

    cache = dict()


dot = _dot.apply


def throughput(M, N, K, dtype=torch.float32):
    """TFLOPS of a product"""
    a = triton.empty((M, K), dtype=dtype)
    b = triton.empty((K, N), dtype=dtype)
    triton.synchronize()
    return 2. * M * N * K / _dot.call(a, b, bench=100) * 1e-3
