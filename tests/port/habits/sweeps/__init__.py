"""Lists of tiles, and grids that ask for the chosen ones in each of the ways."""
import torch
import triton

src = """
__global__ void outer(float *Z, float *X, float *Y, int M __retune, int N __retune, int ldz __multipleof(8)) {
    int m[TM] = get_program_id(0) * TM + 0 ... TM;
    int n[TN] = get_program_id(1) * TN + 0 ... TN;
    float x[TM] = m < M ? *(X + m) : 0;
    float y[TN] = n < N ? *(Y + n) : 0;
    bool inside[TM, TN] = (m < M)[:, newaxis] && (n < N)[newaxis, :];
    *?(inside)(Z + m[:, newaxis] * ldz + n[newaxis, :]) = x[:, newaxis] * y[newaxis, :];
}
"""
tiles = [16, 32]
lists = triton.kernel(src, defines={'TM': tiles, 'TN': [t * 2 for t in tiles]}, num_warps=[2, 4])
configs = triton.kernel(src, None, defines={'TN': 16}, autotune_key=['M', 'N'], autotune_configs=[
    triton.config(defines={'TM': '16'}, num_warps=2), triton.config(defines={'TM': '64'}, num_warps=4)])

grids = [
    lambda M, N: lambda opt: (triton.cdiv(M, opt.TM), triton.cdiv(N, opt.TN)),
    lambda M, N: lambda opt: [triton.cdiv(M, opt.d('TM')), triton.cdiv(N, opt.d('TN'))],
    lambda M, N: lambda opt: (triton.cdiv(M, opt['TM']), triton.cdiv(N, opt.D('TN'))),
]


def outer(kernel, x, y, grid):
    z = torch.empty(x.numel(), y.numel())
    kernel(z, x, y, x.numel(), y.numel(), z.stride(0), grid=grid(x.numel(), y.numel()))
    return z


def main(seed, m=30, n=40):
    torch.manual_seed(seed)
    x, y = torch.randn(m), torch.randn(n)
    return [outer(kernel, x, y, grid) for kernel in (lists, configs) for grid in grids]
