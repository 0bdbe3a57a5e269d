# %%
# # Top-k softmax
#
# The router of a mixture of experts: the `k` largest elements of each row, and their softmax.

import torch

import pytriton

SOURCE = """
// one row per program; W [rows, K] the weights, I [rows, K] their columns, from the largest on
__global__ void topk_softmax(TYPE *W __noalias, long *I __noalias, TYPE *X __readonly, int n) {
  long row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  int slot[K] = 0 ... K;
  TYPE x[TN] = rn < n ? *(X + row * n + rn) : 0;
  // a NaN counts as the largest
  float key[TN] = x == x ? x : F32_INFINITY;
  bool left[TN] = rn < n;
  int pick[K] = 0;
  for (int k = 0; k < K; k++) {
    float largest = (left ? key : -F32_INFINITY)[max];
    int first = (left && key == largest ? rn : TN)[min];
    pick = slot == k ? first : pick;
    left = left && rn != first;
  }
  float v[K] = *(X + row * n + pick);
  float e[K] = exp(v - v[max]);
  *(W + row * K + slot) = e / e[+];
  *(I + row * K + slot) = pick;
}
"""

kernel = pytriton.kernel(SOURCE, num_warps=[1, 2, 4])

# %%
# The loop finds columns; their elements are then loaded once more, from the cache. So the weights depend on `x`
# through one load alone, the loop carries no derivative, and the derived backward adds to the chosen elements.
# A block of `K` elements may have any length.


@pytriton.op("gallery::topk_softmax", gradient=True)
def topk_softmax(x: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The softmax of the k largest elements of each row of x [rows, n], and their columns."""
    x = x.contiguous()
    rows, n = x.shape
    weights = torch.empty((rows, k), dtype=x.dtype, device=x.device)
    columns = torch.empty((rows, k), dtype=torch.int64, device=x.device)
    defines = {"TYPE": x.dtype, "K": k, "TN": pytriton.next_power_of_2(n)}
    kernel(weights, columns, x, n, grid=(rows,), defines=defines)
    return weights, columns


# %%
# Against torch, which sorts, gathers, and takes the softmax, in a kernel each:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(50, 60, device=device, requires_grad=True)
    weights, columns = topk_softmax(x, 6)
    theirs, wanted = x.topk(6, dim=1)
    assert torch.equal(columns, wanted)
    torch.testing.assert_close(weights, theirs.softmax(1))
    flowing = torch.randn_like(weights)
    torch.testing.assert_close(*(torch.autograd.grad(y, x, flowing)[0] for y in (weights, theirs.softmax(1))))
    print("agrees with torch")
