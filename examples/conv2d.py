"""2-D convolution as a matrix product whose left operand is never built (implicit GEMM).

Row m of the left operand is a pixel of the output, column k an element (channel, r, s) of its
window. Neighbouring columns are not evenly spaced in memory, so pointers cannot advance by a
constant: a look-up table holds, for each column k, the distance to column k + TK. Channel and place
in the window are computed again in each step, for the mask that lets nothing but the image be read.

    python examples/conv2d.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
// A [images, channels, H, W], any strides; B [N, K] with K = channels * R * S; C [images, N, P, Q]
__global__ void conv2d(TYPE *A __noalias __readonly,
                       TYPE *B __noalias __readonly __aligned(16),
                       TYPE *C __noalias __writeonly __aligned(16),
                       int M, int N, int K MULTIPLE_K,
                       int H, int W, int P, int Q,
                       int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w,
                       int lda_i, int lda_c, int lda_h, int lda_w,
                       int ldb MULTIPLE_K,
                       int ldc_i, int ldc_n, int ldc_p, int ldc_q,
                       int *DELTA __noalias __readonly __aligned(16)) {
  // prologue
  int rm[TM] = get_program_id(0) * TM + 0 ... TM;
  int rn[TN] = get_program_id(1) * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  // the first pixel of each window; it may lie outside the image
  int ri[TM] = rm / (P * Q);
  int rh[TM] = rm / Q % P * stride_h - pad_h;
  int rw[TM] = rm % Q * stride_w - pad_w;
  // the place in the window
  int rc[TK] = rk / (R * S);
  int rr[TK] = rk / S % R * dilation_h;
  int rs[TK] = rk % S * dilation_w;
  // pointers to operands
  TYPE *pa[TM, TK] = A + (ri * lda_i + rh * lda_h + rw * lda_w)[:, newaxis]
                       + (rc * lda_c + rr * lda_h + rs * lda_w)[newaxis, :];
  TYPE *pb[TN, TK] = B + rn[:, newaxis] * ldb + rk[newaxis, :];
  int *pd[TK] = DELTA + rk;
  // prefetches operands
  int h[TM, TK] = rh[:, newaxis] + rr[newaxis, :];
  int w[TM, TK] = rw[:, newaxis] + rs[newaxis, :];
  bool checka[TM, TK] = h >= 0 && h < H && w >= 0 && w < W && (rm < M)[:, newaxis] && (rk < K)[newaxis, :];
  bool checkb[TN, TK] = (rn < N)[:, newaxis] && (rk < K)[newaxis, :];
  TYPE a[TM, TK] = checka ? *pa : 0;
  TYPE b[TN, TK] = checkb ? *pb : 0;
  int delta[TK] = *pd;
  // reduction loop
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    acc += a @ ^b;
    // advance: A by what the table says
    pa += delta[newaxis, :];
    pb += TK;
    pd += TK;
    delta = *pd;
    // the place in the window, and what is inside
    rk += TK;
    int rr[TK] = rk / S % R * dilation_h;
    int rs[TK] = rk % S * dilation_w;
    int h[TM, TK] = rh[:, newaxis] + rr[newaxis, :];
    int w[TM, TK] = rw[:, newaxis] + rs[newaxis, :];
    bool checka[TM, TK] = h >= 0 && h < H && w >= 0 && w < W && (rm < M)[:, newaxis] && (rk < K)[newaxis, :];
    bool checkb[TN, TK] = (rn < N)[:, newaxis] && (rk < K)[newaxis, :];
    a = checka ? *pa : 0;
    b = checkb ? *pb : 0;
  }
  // epilogue
  rm = get_program_id(0) * TM + 0 ... TM;
  rn = get_program_id(1) * TN + 0 ... TN;
  TYPE *pc[TM, TN] = C + (rm / (P * Q) * ldc_i + rm / Q % P * ldc_p + rm % Q * ldc_q)[:, newaxis]
                       + rn[newaxis, :] * ldc_n;
  *?((rm < M)[:, newaxis] && (rn < N)[newaxis, :]) pc = acc;
}
"""

# TK is not swept: the table belongs to one step
TILES = {"TM": [64, 128], "TN": [32, 64, 128], "TK": 32}
SMALL = {"TM": 32, "TN": 16, "TK": 16}

Pair = tuple[int, int]

kernel = triton.kernel(SOURCE, num_warps=4)


def defines(dtype: torch.dtype, k: int, r: int, s: int, tiles: dict[str, Any]) -> dict[str, Any]:
    """The text for a type and a window; a promise about K where it is true, for loads of 16 bytes."""
    promise = "__multipleof(8)" if k % 8 == 0 else ""
    return {"TYPE": dtype, "R": r, "S": s, "MULTIPLE_K": promise, **tiles}


def offsets(k: int, r: int, s: int, strides: tuple[int, int, int], dilation: Pair) -> torch.Tensor:
    """Where each column of the left operand lies, from the start of its window."""
    columns = torch.arange(k)
    stride_c, stride_h, stride_w = strides
    return (
        columns // (r * s) * stride_c
        + columns // s % r * dilation[0] * stride_h
        + columns % s * dilation[1] * stride_w
    )


def increments(
    k: int, r: int, s: int, strides: tuple[int, int, int], dilation: Pair, tk: int
) -> torch.Tensor:
    """The table: from column k to column k + TK. A step more than K, as the last one is loaded ahead."""
    steps = triton.cdiv(k, tk) + 2
    columns = offsets(steps * tk, r, s, strides, dilation)
    return (columns[tk:] - columns[:-tk]).int()


def conv2d(
    x: torch.Tensor,
    weight: torch.Tensor,
    stride: Pair = (1, 1),
    padding: Pair = (0, 0),
    dilation: Pair = (1, 1),
    tiles: dict[str, int] | None = None,
) -> torch.Tensor:
    """x [images, C, H, W] convolved with weight [F, C, R, S]; `tiles` turns tuning off."""
    tiles = tiles or (TILES if x.is_cuda else SMALL)
    arguments, grid = launch(x, weight, stride, padding, dilation, tiles["TK"])
    _, channels, r, s = weight.shape
    kernel(*arguments, grid=grid, defines=defines(x.dtype, channels * r * s, r, s, tiles))
    return arguments[2]


def launch(
    x: torch.Tensor, weight: torch.Tensor, stride: Pair, padding: Pair, dilation: Pair, tk: int
) -> tuple[tuple[Any, ...], Any]:
    """What the kernel is called with: its arguments, of which the third is the output, and its grid."""
    images, channels, height, width = x.shape
    filters, channels_of_weight, r, s = weight.shape
    if channels != channels_of_weight:
        raise ValueError(f"x has {channels} channels, weight {channels_of_weight}")
    p, q = (
        (size + 2 * pad - dil * (window - 1) - 1) // step + 1
        for size, pad, dil, window, step in zip(x.shape[2:], padding, dilation, (r, s), stride, strict=True)
    )
    y = torch.empty((images, filters, p, q), dtype=x.dtype, device=x.device)
    m, n, k = images * p * q, filters, channels * r * s
    table = increments(k, r, s, x.stride()[1:], dilation, tk).to(x.device)
    return (
        *(x, weight.contiguous(), y, m, n, k, height, width, p, q, *stride, *padding, *dilation),
        *(*x.stride(), k, *y.stride(), table),
    ), lambda opt: (triton.cdiv(m, opt.TM), triton.cdiv(n, opt.TN))


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape, filters = ((32, 128, 56, 56), 256) if device == "cuda" else ((2, 5, 12, 11), 7)
    torch.manual_seed(0)
    x = torch.randn(shape, device=device).half()
    weight = torch.randn(filters, shape[1], 3, 3, device=device).half()
    y = conv2d(x, weight, stride=(2, 2), padding=(1, 1))
    want = torch.nn.functional.conv2d(x.double(), weight.double(), stride=(2, 2), padding=(1, 1))
    shown = {"TM": 64, "TN": 64, "TK": 32}
    print(kernel.source(defines(x.dtype, weight[0].numel(), 3, 3, shown)))
    print(f"half {tuple(x.shape)} * {tuple(weight.shape)} on {device}, chosen point: {kernel.best_config}")
    print(f"relative error: {float((y.double() - want).norm() / want.norm()):.1e}")


if __name__ == "__main__":
    main()
