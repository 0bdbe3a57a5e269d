# %%
# # Group norm
#
# The channels of an image are normalised in groups: each group has mean 0 and variance 1, then each channel its
# own scale and shift.

import torch

import pytriton

SOURCE = """
// X [images * groups, channels, length]: one group per program, in tiles of TC channels and TL pixels
__global__ void group_norm(TYPE *Y __noalias, TYPE *X __readonly, TYPE *GAMMA __readonly, TYPE *BETA __readonly,
                           int groups, int channels, int length, float eps) {
  int rc[TC] = 0 ... TC;
  int rl[TL] = 0 ... TL;
  int group = get_program_id(0);
  int count = channels * length;
  int r[TC, TL] = rc[:, newaxis] * length + rl[newaxis, :];
  TYPE *px[TC, TL] = X + (long)group * count + r;
  TYPE *py[TC, TL] = Y + (long)group * count + r;
  float sum[TC, TL] = 0;
  for (int c = 0; c < channels; c += TC)
    for (int l = 0; l < length; l += TL)
      sum += (rc + c < channels)[:, newaxis] && (rl + l < length)[newaxis, :] ? *(px + c * length + l) : 0;
  float mean = sum[+, +] / count;
  float squares[TC, TL] = 0;
  for (int c = 0; c < channels; c += TC)
    for (int l = 0; l < length; l += TL) {
      bool inside[TC, TL] = (rc + c < channels)[:, newaxis] && (rl + l < length)[newaxis, :];
      float d[TC, TL] = inside ? *(px + c * length + l) - mean : 0;
      squares += d * d;
    }
  float rstd = rsqrt(squares[+, +] / count + eps);
  for (int c = 0; c < channels; c += TC) {
    int channel[TC] = group % groups * channels + rc + c;
    float scale[TC] = rc + c < channels ? *(GAMMA + channel) : 0;
    float shift[TC] = rc + c < channels ? *(BETA + channel) : 0;
    for (int l = 0; l < length; l += TL) {
      bool inside[TC, TL] = (rc + c < channels)[:, newaxis] && (rl + l < length)[newaxis, :];
      float x[TC, TL] = inside ? *(px + c * length + l) - mean : 0;
      *?(inside) (py + c * length + l) = x * rstd * scale[:, newaxis] + shift[:, newaxis];
    }
  }
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TC": [1, 4, 16], "TL": [64, 256, 1024]}, num_warps=[4, 8])

# %%
# Sums are kept in a tile and reduced once, after the loops. The first loop reads the group from memory, the
# others find it in the level-2 cache. Tiles have channels as an axis of their own, so a channel's scale is one
# load of the tile, and its gradient is added up over the pixels before it leaves the program.


@pytriton.op("gallery::group_norm", gradient=True)
def group_norm(
    x: torch.Tensor, groups: int, gamma: torch.Tensor, beta: torch.Tensor, eps: float
) -> torch.Tensor:
    """Group norm of x [images, channels, ...] with a scale and a shift per channel."""
    x = x.contiguous()
    y, (images, channels) = torch.empty_like(x), x.shape[:2]
    length = x.numel() // (images * channels)
    sizes = groups, channels // groups, length
    grid, defines = (images * groups,), {"TYPE": x.dtype}
    kernel(y, x, gamma.contiguous(), beta.contiguous(), *sizes, eps, grid=grid, defines=defines)
    return y


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shapes = (2, 12, 9, 11), (12,), (12,)
    x, gamma, beta = leaves = [torch.randn(*shape, device=device, requires_grad=True) for shape in shapes]
    ours, theirs = (
        group_norm(x, 3, gamma, beta, 1e-5),
        torch.nn.functional.group_norm(x, 3, gamma, beta, 1e-5),
    )
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    flowing = torch.randn_like(x)
    for mine, other in zip(*(torch.autograd.grad(y, leaves, flowing) for y in (ours, theirs)), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    print("agrees with torch")
