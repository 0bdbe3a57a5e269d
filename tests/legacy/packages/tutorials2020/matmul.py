import torch
import triton

# Lesson 2: a product of matrices whose sizes are multiples of the tiles. The data type is a macro, the tiles are
# a list of candidates, and a change of M, N or K makes the search start again.

code = """
__global__ void product(TYPE *A __noalias __readonly __aligned(16),
                        TYPE *B __noalias __readonly __aligned(16),
                        TYPE *C __noalias __aligned(16),
                        float scale,
                        int M __retune, int N __retune, int K __retune,
                        int lda __multipleof(8), int ldb __multipleof(8), int ldc __multipleof(8)) {
    // programs are renumbered along the rows of C
    int id = get_program_id(0) + get_program_id(1) * get_num_programs(0);
    int wide = N / TN;
    int m[TM] = id / wide * TM + 0 ... TM;
    int n[TN] = id % wide * TN + 0 ... TN;
    int k[TK] = 0 ... TK;
    TYPE *pa[TM, TK] = A + m[:, newaxis] * lda + k[newaxis, :];
    TYPE *pb[TK, TN] = B + k[:, newaxis] * ldb + n[newaxis, :];
    // the first operands; those of the next round are fetched while a product is computed
    TYPE a[TM, TK] = *pa;
    TYPE b[TK, TN] = *pb;
    float sum[TM, TN] = 0;
    for (int rest = K; rest > 0; rest -= TK) {
        sum += a @ b;
        bool again[TK] = rest > TK;
        pa += TK;
        pb += TK * ldb;
        a = *?(again[newaxis, :])pa;
        b = *?(again[:, newaxis])pb;
    }
    TYPE *pc[TM, TN] = C + m[:, newaxis] * ldc + n[newaxis, :];
    *pc = sum * scale;
}
"""

products = {}


def multiply(a, b, scale=1., bench=0):
    """the product, or with bench its time in nanoseconds"""
    (M, K), N = a.shape, b.shape[1]
    if a.dtype not in products:
        defines = {'TYPE': a.dtype, 'TM': [32, 64], 'TN': [32, 64], 'TK': [16]}
        products[a.dtype] = triton.kernel(code, defines=defines, num_warps=[4])
    c = triton.empty([M, N], dtype=a.dtype)
    time = products[a.dtype](a, b, c, scale, M, N, K, a.stride(0), b.stride(0), c.stride(0),
                             grid=lambda opt: (M // opt.d('TM'), N // opt.d('TN')), bench=bench)
    return time if bench else c


class Dot(torch.autograd.Function):

    @staticmethod
    def forward(ctx, a, b, scale):
        ctx.save_for_backward(a, b)
        ctx.scale = scale
        return multiply(a, b, scale)

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        grad = grad.contiguous()
        return multiply(grad, b.t().contiguous(), ctx.scale), multiply(a.t().contiguous(), grad, ctx.scale), None


dot = Dot.apply


def throughput(M, N, K, dtype=torch.float32):
    """TFLOPS of a product"""
    a, b = triton.empty((M, K), dtype=dtype), triton.empty((K, N), dtype=dtype)
    triton.synchronize()
    return 2. * M * N * K / multiply(a, b, bench=100) * 1e-3
