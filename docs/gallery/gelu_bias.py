# %%
# # GELU with a bias
#
# `gelu(x + bias)` with one bias per column, as it follows the matrix product of a linear layer.

import torch

import pytriton

SOURCE = """
__global__ void gelu_bias(TYPE *Y __noalias, TYPE *X __readonly, TYPE *BIAS __readonly, int m, int n) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  bool inside[TM, TN] = (rm < m)[:, newaxis] && (rn < n)[newaxis, :];
  long offset[TM, TN] = (long[TM, 1])rm[:, newaxis] * n + rn[newaxis, :];
  float bias[TN] = rn < n ? *(BIAS + rn) : 0;
  float x[TM, TN] = (inside ? *(X + offset) : 0) + bias[newaxis, :];
  // x, by the share of a normal distribution below it
  *?(inside) (Y + offset) = x * (0.5 * (1 + erf(x * 0.70710678)));
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TM": [4, 8, 16], "TN": [128, 256, 512]}, num_warps=[4, 8])

# %%
# A tile of several rows loads its biases once. In the backward a tile adds up its rows before anything leaves
# the program, and a loop over the programs of a column adds up the tiles.


@pytriton.op("gallery::gelu_bias", gradient=True)
def gelu_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """GELU of x + bias; bias is along the last axis."""
    x, n = x.contiguous(), x.shape[-1]
    y, m = torch.empty_like(x), x.numel() // n
    kernel(
        y,
        x,
        bias.contiguous(),
        m,
        n,
        grid=lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
        defines={"TYPE": x.dtype},
    )
    return y


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, bias = (torch.randn(*shape, device=device, requires_grad=True) for shape in ((50, 300), (300,)))
    ours, theirs = gelu_bias(x, bias), torch.nn.functional.gelu(x + bias)
    torch.testing.assert_close(ours, theirs)
    flowing = torch.randn_like(x)
    pairs = zip(*(torch.autograd.grad(y, (x, bias), flowing) for y in (ours, theirs)), strict=True)
    for mine, other in pairs:
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    print("agrees with torch")
