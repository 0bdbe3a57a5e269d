# %%
# # RMS norm
#
# Each row of `x` is divided by the root of its mean square, and multiplied by a weight per column.

import torch

import pytriton

SOURCE = """
// TM rows per program; a row is one block of TN >= n elements
__global__ void rms_norm(TYPE *Y __noalias, TYPE *X __readonly, TYPE *W __readonly, int m, int n, float eps) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = 0 ... TN;
  bool inside[TM, TN] = (rm < m)[:, newaxis] && (rn < n)[newaxis, :];
  long offset[TM, TN] = (long[TM, 1])rm[:, newaxis] * n + rn[newaxis, :];
  float x[TM, TN] = inside ? *(X + offset) : 0;
  float w[TN] = rn < n ? *(W + rn) : 0;
  float scale[TM] = rsqrt((x * x)[:, +] / n + eps);
  *?(inside) (Y + offset) = x * scale[:, newaxis] * w[newaxis, :];
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TM": [2, 4, 8]}, num_warps=[2, 4, 8, 16])

# %%
# The row stays in registers: it is read once. Short rows share a program, and with it one load of the weight;
# how many is found by tuning. The gradient of the weight is the sum over all programs: the derived source loops
# over them, in parts that a last kernel adds up, without atomics.


@pytriton.op("gallery::rms_norm", gradient=True)
def rms_norm(x: torch.Tensor, w: torch.Tensor, eps: float) -> torch.Tensor:
    """x / sqrt(mean(x * x) + eps) * w along the last axis."""
    x, n = x.contiguous(), x.shape[-1]
    y, m = torch.empty_like(x), x.numel() // n
    defines = {"TYPE": x.dtype, "TN": pytriton.next_power_of_2(n)}
    kernel(y, x, w.contiguous(), m, n, eps, grid=lambda opt: (pytriton.cdiv(m, opt.TM),), defines=defines)
    return y


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, w = (torch.randn(*shape, device=device, requires_grad=True) for shape in ((50, 300), (300,)))
    ours = rms_norm(x, w, 1e-6)
    theirs = torch.nn.functional.rms_norm(x, (300,), w, 1e-6)
    torch.testing.assert_close(ours, theirs)
    for mine, other in zip(
        *(torch.autograd.grad(y.sin().sum(), (x, w)) for y in (ours, theirs)), strict=True
    ):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    print("agrees with torch")
