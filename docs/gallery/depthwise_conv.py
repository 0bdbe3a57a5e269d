# %%
# # Depthwise convolution
#
# Each channel of an image is convolved with a filter of its own.

import torch

import pytriton

SOURCE = """
// X [images, channels, H, W], FILTER [channels, R, S], Y [images, channels, P, Q]; TILE pixels of one plane
__global__ void depthwise(TYPE *Y __noalias, TYPE *X __readonly, TYPE *FILTER __readonly, int channels, int H,
                          int W, int P, int Q, int stride, int pad) {
  int plane = get_program_id(0);
  int r[TILE] = get_program_id(1) * TILE + 0 ... TILE;
  int h[TILE] = r / Q * stride - pad;
  int w[TILE] = r % Q * stride - pad;
  TYPE *px[TILE] = X + (long)plane * (H * W) + h * W + w;
  TYPE *filter = FILTER + plane % channels * (R * S);
  float y[TILE] = 0;
  for (int k = 0; k < R * S; k++) {
    int i = k / S;
    int j = k % S;
    bool inside[TILE] = r < P * Q && h + i >= 0 && h + i < H && w + j >= 0 && w + j < W;
    y += (inside ? *(px + i * W + j) : 0) * *(filter + k);
  }
  *?(r < P * Q) (Y + (long)plane * (P * Q) + r) = y;
}
"""

kernel = pytriton.kernel(SOURCE, defines={"TILE": [64, 128, 256, 512]}, num_warps=[2, 4])

# %%
# There is nothing to add up over channels, so nothing for tensor cores: the windows of a tile overlap in the
# first-level cache, and a filter's element is one scalar for the whole tile. One loop goes over the window,
# rather than two: its backward is one loop, too. There, overlapping windows are added up by atomics; the gradient
# of a filter is reduced in each program first.


@pytriton.op("gallery::depthwise_conv", gradient=True)
def depthwise_conv(x: torch.Tensor, weight: torch.Tensor, stride: int, pad: int) -> torch.Tensor:
    """Convolution of x [images, channels, H, W] with weight [channels, R, S], channel by channel."""
    x, (channels, height, width), (r, s) = x.contiguous(), x.shape[1:], weight.shape[1:]
    p, q = (height + 2 * pad - r) // stride + 1, (width + 2 * pad - s) // stride + 1
    y = torch.empty((*x.shape[:2], p, q), dtype=x.dtype, device=x.device)
    sizes, defines = (height, width, p, q, stride, pad), {"TYPE": x.dtype, "R": r, "S": s}
    kernel(
        y,
        x,
        weight.contiguous(),
        channels,
        *sizes,
        grid=lambda opt: (x.shape[0] * channels, pytriton.cdiv(p * q, opt.TILE)),
        defines=defines,
    )
    return y


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shapes = (2, 5, 20, 17), (5, 3, 3)
    x, weight = (torch.randn(*shape, device=device, requires_grad=True) for shape in shapes)
    ours = depthwise_conv(x, weight, 2, 1)
    theirs = torch.nn.functional.conv2d(x, weight[:, None], None, 2, 1, groups=5)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    flowing = torch.randn_like(ours)
    pairs = zip(*(torch.autograd.grad(y, (x, weight), flowing) for y in (ours, theirs)), strict=True)
    for mine, other in pairs:
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    print("agrees with torch")
