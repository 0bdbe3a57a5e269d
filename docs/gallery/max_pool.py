# %%
# # Max pooling
#
# The largest element of each window of an image.

import torch

import pytriton

SOURCE = """
// X [planes, H, W], Y [planes, P, Q]; a program has TILE of the m outputs
__global__ void max_pool(TYPE *Y __noalias, TYPE *X __readonly, int m, int H, int W, int P, int Q, int stride,
                         int pad) {
  int r[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  int h[TILE] = r / Q % P * stride - pad;
  int w[TILE] = r % Q * stride - pad;
  TYPE *px[TILE] = X + (long[TILE])(r / (P * Q)) * (H * W);
  float best[TILE] = -F32_INFINITY;
  int at[TILE] = max(h, 0) * W + max(w, 0);
  for (int i = 0; i < R; i++)
    for (int j = 0; j < S; j++) {
      int here[TILE] = (h + i) * W + w + j;
      bool inside[TILE] = r < m && h + i >= 0 && h + i < H && w + j >= 0 && w + j < W;
      float x[TILE] = inside ? *(px + here) : -F32_INFINITY;
      // a NaN wins; among equals the first does
      bool better[TILE] = x > best || x != x;
      best = better ? x : best;
      at = better ? here : at;
    }
  *?(r < m) (Y + r) = *?(r < m) (px + at);
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TILE": [128, 256, 512, 1024]}, num_warps=4)

# %%
# The loop finds places, not values: the output is one more load, and the derivation has nothing to carry
# through the loop. The gradient goes to the largest element, as in torch. Written as `best = max(best, x)`,
# the backward would have to save `best` for each iteration.


@pytriton.op("gallery::max_pool", gradient=True)
def max_pool(x: torch.Tensor, size: int, stride: int, pad: int) -> torch.Tensor:
    """Max pooling of x [images, channels, H, W] over windows of size x size."""
    x = x.contiguous()
    height, width = x.shape[2:]
    p, q = ((n + 2 * pad - size) // stride + 1 for n in (height, width))
    y = torch.empty((*x.shape[:2], p, q), dtype=x.dtype, device=x.device)
    defines = {"TYPE": x.dtype, "R": size, "S": size}
    kernel(
        y,
        x,
        y.numel(),
        height,
        width,
        p,
        q,
        stride,
        pad,
        grid=lambda opt: (pytriton.cdiv(y.numel(), opt.TILE),),
        defines=defines,
    )
    return y


# %%
# Against torch, with overlapping windows:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x = torch.randn(2, 3, 20, 17, device=device, requires_grad=True)
    ours, theirs = max_pool(x, 3, 2, 1), torch.nn.functional.max_pool2d(x, 3, 2, 1)
    assert torch.equal(ours, theirs)
    flowing = torch.randn_like(ours)
    torch.testing.assert_close(*(torch.autograd.grad(y, x, flowing)[0] for y in (ours, theirs)))
    print("agrees with torch")
