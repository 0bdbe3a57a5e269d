# %%
# # int8 matrix product with scales
#
# `y = (a @ w) * scale_a * scale_w` for a quantised activation `a` with a scale per row, and a quantised weight
# `w` with a scale per column.

import torch

import pytriton

SOURCE = """
// A [M, K], W [N, K] int8; Y [M, N]
__global__ void int8_matmul(TYPE *Y __noalias, char *A __noalias __readonly, char *W __noalias __readonly,
                            float *SA __readonly, float *SW __readonly, int M, int N, int K) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  char *pa[TM, TK] = A + (long[TM, 1])rm[:, newaxis] * K + rk[newaxis, :];
  char *pw[TN, TK] = W + (long[TN, 1])rn[:, newaxis] * K + rk[newaxis, :];
  int acc[TM, TN] = 0;
  for (int k = 0; k < K; k += TK) {
    char a[TM, TK] = (rm < M)[:, newaxis] && (rk < K - k)[newaxis, :] ? *pa : 0;
    char w[TN, TK] = (rn < N)[:, newaxis] && (rk < K - k)[newaxis, :] ? *pw : 0;
    acc += a @ ^w;
    pa += TK;
    pw += TK;
  }
  float sa[TM] = rm < M ? *(SA + rm) : 0;
  float sw[TN] = rn < N ? *(SW + rn) : 0;
  TYPE *py[TM, TN] = Y + (long[TM, 1])rm[:, newaxis] * N + rn[newaxis, :];
  *?((rm < M)[:, newaxis] && (rn < N)[newaxis, :]) py = acc * sa[:, newaxis] * sw[newaxis, :];
}
"""

TILES = {"TM": [64, 128], "TN": [64, 128, 256], "TK": [64, 128]}
SMALL = {"TM": 32, "TN": 32, "TK": 32}
kernel = pytriton.kernel(SOURCE, num_warps=[4, 8])

# %%
# The product of `char` blocks is exact, in int32, on tensor cores; the scales are applied once, to the sums.
# int8 has no gradient; that of the scales is derived, which is what quantisation-aware training of scales
# needs.


@pytriton.op("gallery::int8_matmul", gradient=True)
def int8_matmul(
    a: torch.Tensor, w: torch.Tensor, scale_a: torch.Tensor, scale_w: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    """(a @ w.T) * scale_a[:, None] * scale_w: a [m, k] and w [n, k] int8, the scales float."""
    a, w, (m, k), n = a.contiguous(), w.contiguous(), a.shape, w.shape[0]
    y = torch.empty((m, n), dtype=dtype, device=a.device)
    defines = {"TYPE": dtype, **(SMALL if a.device.type == "cpu" else TILES)}
    kernel(
        y,
        a,
        w,
        scale_a.contiguous(),
        scale_w.contiguous(),
        m,
        n,
        k,
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
        defines=defines,
    )
    return y


# %%
# Against torch, in double, where all products are exact:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    a, w = (torch.randint(-127, 128, (n, 100), dtype=torch.int8, device=device) for n in (40, 70))
    scales = [torch.rand(n, device=device, requires_grad=True) for n in (40, 70)]
    ours = int8_matmul(a, w, *scales, torch.float32)
    theirs = (a.double() @ w.double().t()) * scales[0][:, None].double() * scales[1].double()
    torch.testing.assert_close(ours.double(), theirs, rtol=1e-6, atol=0)
    flowing = torch.randn_like(ours)
    gradients = [torch.autograd.grad(y, scales, flowing.to(y.dtype)) for y in (ours, theirs)]
    for mine, other in zip(*gradients, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1)
    print("agrees with torch")
