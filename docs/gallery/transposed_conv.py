# %%
# # Transposed convolution
#
# The convolution that makes an image larger: each pixel of the input adds a window to the output.

import torch

import pytriton

SOURCE = """
// X [images, H, W, C], FILTER [R, S, C, N], Y [images, P, Q, N]: channels last
__global__ void transposed(TYPE *Y __noalias, TYPE *X __noalias __readonly, TYPE *FILTER __noalias __readonly,
                           int images, int H, int W, int C, int P, int Q, int N, int pad) {
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rc[TC] = 0 ... TC;
  // pixels STRIDE apart read the same elements of a filter, and no others
  int p0 = get_program_id(2) / STRIDE;
  int q0 = get_program_id(2) % STRIDE;
  int rows = (P + STRIDE - 1) / STRIDE;
  int columns = (Q + STRIDE - 1) / STRIDE;
  int image[TM] = rm / (rows * columns);
  int p[TM] = rm / columns % rows * STRIDE + p0;
  int q[TM] = rm % columns * STRIDE + q0;
  bool inside[TM] = image < images && p < P && q < Q;
  float acc[TM, TN] = 0;
  for (int r = (p0 + pad) % STRIDE; r < R; r += STRIDE)
    for (int s = (q0 + pad) % STRIDE; s < S; s += STRIDE) {
      int h[TM] = (p + pad - r) / STRIDE;
      int w[TM] = (q + pad - s) / STRIDE;
      bool within[TM] = inside && p + pad >= r && h < H && q + pad >= s && w < W;
      TYPE *px[TM, TC] = X + (((long[TM])image * H + h) * W + w)[:, newaxis] * C + rc[newaxis, :];
      TYPE *pf[TC, TN] = FILTER + ((r * S + s) * C + rc)[:, newaxis] * N + rn[newaxis, :];
      for (int c = 0; c < C; c += TC) {
        TYPE x[TM, TC] = within[:, newaxis] && (rc < C - c)[newaxis, :] ? *(px + c) : 0;
        TYPE f[TC, TN] = (rc < C - c)[:, newaxis] && (rn < N)[newaxis, :] ? *(pf + c * N) : 0;
        acc += x @ f;
      }
    }
  TYPE *py[TM, TN] = Y + (((long[TM])image * P + p) * Q + q)[:, newaxis] * N + rn[newaxis, :];
  *?(inside[:, newaxis] && (rn < N)[newaxis, :]) py = acc;
}
"""

TILES = {"TM": [64, 128], "TN": [32, 64, 128], "TC": [32, 64]}
SMALL = {"TM": 32, "TN": 16, "TC": 16}
kernel = pytriton.kernel(SOURCE, num_warps=[4, 8])

# %%
# With a stride of 2 a pixel of the output uses every second row and column of a filter: which ones depends on
# the pixel's place modulo 2. A program takes pixels of one such place (axis 2 of the grid), so its loops
# multiply no zeros. The result is a view with torch's order of axes, as `channels_last` tensors are. The
# derived backward has two products per step; programs share pixels and filters, so their gradients are added up
# by atomics.


@pytriton.op("gallery::transposed_conv", gradient=True)
def transposed_conv(x: torch.Tensor, weight: torch.Tensor, stride: int, pad: int) -> torch.Tensor:
    """conv_transpose2d of x [images, c, H, W] with weight [c, n, R, S]."""
    (images, c, height, width), (n, r, s) = x.shape, weight.shape[1:]
    p, q = (height - 1) * stride - 2 * pad + r, (width - 1) * stride - 2 * pad + s
    x, weight = x.permute(0, 2, 3, 1).contiguous(), weight.permute(2, 3, 0, 1).contiguous()
    y = torch.empty((images, p, q, n), dtype=x.dtype, device=x.device)
    pixels = images * pytriton.cdiv(p, stride) * pytriton.cdiv(q, stride)
    defines = {"TYPE": x.dtype, "R": r, "S": s, "STRIDE": stride}
    tiles = SMALL if x.device.type == "cpu" else TILES
    kernel(
        y,
        x,
        weight,
        images,
        height,
        width,
        c,
        p,
        q,
        n,
        pad,
        grid=lambda opt: (pytriton.cdiv(pixels, opt.TM), pytriton.cdiv(n, opt.TN), stride**2),
        defines={**defines, **tiles},
    )
    return y.permute(0, 3, 1, 2)


# %%
# Against torch, forward and gradients:

if __name__ == "__main__":
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shapes = (2, 5, 6, 7), (5, 4, 3, 3)
    x, weight = (torch.randn(*shape, device=device, requires_grad=True) for shape in shapes)
    ours = transposed_conv(x, weight, 2, 1)
    theirs = torch.nn.functional.conv_transpose2d(x, weight, None, 2, 1)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)
    flowing = torch.randn_like(ours)
    pairs = zip(*(torch.autograd.grad(y, (x, weight), flowing) for y in (ours, theirs)), strict=True)
    for mine, other in pairs:
        torch.testing.assert_close(mine, other, atol=1e-4, rtol=1e-4)
    print("agrees with torch")
