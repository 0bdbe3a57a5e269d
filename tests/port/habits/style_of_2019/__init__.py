"""As in 2019: names of outputs, the grid last by position, defines and num_warps at the call, triton.function."""
import torch
import triton


class _product(triton.function):
    src = """
void product(TYPE *A, TYPE *B, TYPE *C, int M, int N, int K) {
    int m[TM] = get_program_id(0) * TM + 0 ... TM;
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    TYPE c[TM, TN] = 0;
    for (int k = 0; k < K; k += 1) {
        TYPE a[TM] = m < M ? *(A + m * K + k) : 0;
        TYPE b[TN] = n < N ? *(B + k * N + n) : 0;
        c += a[:, newaxis] * b[newaxis, :];
    }
    bool inside[TM, TN] = (m < M)[:, newaxis] && (n < N)[newaxis, :];
    *?(inside)(C + m[:, newaxis] * N + n[newaxis, :]) = c;
}
"""
    kernel = triton.kernel(src, ['C'])

    @staticmethod
    def _call(a, b):
        (M, K), N = triton.shape(a), triton.shape(b)[1]
        c = triton.empty([M, N], dtype=a.dtype)
        grid = lambda opt: [triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))]
        _product.kernel(a, b, c, M, N, K, grid, TYPE=a.dtype, TM=[8, 16], TN=[16])
        return c

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return _product._call(a, b)

    @staticmethod
    def backward(ctx, dy):
        a, b = ctx.saved_tensors
        dy = dy.contiguous()
        return _product._call(dy, b.t().contiguous()), _product._call(a.t().contiguous(), dy)


product = _product.apply

scale = triton.kernel("""
void scale(float *Y, float *X, float a, int n) {
    int i[TN] = get_program_id(0) * TN + 0 ... TN;
    *?(i < n)(Y + i) = a * *?(i < n)(X + i);
}
""", ['Y'])


def scaled(x, a, warps=4):
    y = torch.empty_like(x)
    scale(y, x, a, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.d('TN'))], num_warps=warps,
          defines={'TN': 16 * warps})
    return y


def main(seed, m=7, n=20, k=5):
    torch.manual_seed(seed)
    a, b = torch.randint(-9, 9, (m, k)).float(), torch.randint(-9, 9, (k, n)).float()
    a.requires_grad_(), b.requires_grad_()
    c = product(a, b)
    c.backward(torch.randint(-9, 9, (m, n)).float())
    return [c.detach(), a.grad, b.grad, scaled(b.detach(), 0.5), scaled(b.detach(), 0.25, warps=2)]
