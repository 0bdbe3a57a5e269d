"""A grouped matrix product in the style of 2021: L2-friendly order, any size, any strides, tuned.

Programs start in the order of their ids. If ids ran along a row of tiles of C, the programs in
flight would read all of B for one strip of A. Here GROUP rows of tiles are walked column by column,
so that the same few strips of A and B serve all programs in flight and stay in the L2 cache. Every
load and the store are masked: M, N and K may be anything. Strides are parameters, so transposed
operands need no other kernel, and the gradients are two more calls.

    python examples/matmul_grouped.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
__global__ void matmul(TYPE *A __noalias __readonly,
                       TYPE *B __noalias __readonly,
                       TYPE *C __noalias,
                       int M, int N, int K,
                       int stride_am, int stride_ak, int stride_bk, int stride_bn, int stride_cm) {
  // which tile of C: ids walk down GROUP rows of tiles before they move on to the next column
  int pid = get_program_id(0);
  int grid_m = (M + TM - 1) / TM;
  int grid_n = (N + TN - 1) / TN;
  int first = pid / (GROUP * grid_n) * GROUP;
  int rows = min(grid_m - first, GROUP);
  int local = pid % (GROUP * grid_n);
  int pm = first + local % rows;
  int pn = local / rows;
  // this program's indices
  int rm[TM] = pm * TM + 0 ... TM;
  int rn[TN] = pn * TN + 0 ... TN;
  int rk[TK] = 0 ... TK;
  TYPE *pa[TM, TK] = A + rm[:, newaxis] * stride_am + rk[newaxis, :] * stride_ak;
  TYPE *pb[TK, TN] = B + rk[:, newaxis] * stride_bk + rn[newaxis, :] * stride_bn;
  float acc[TM, TN] = 0;
  for (int k = K; k > 0; k -= TK) {
    bool inside_a[TM, TK] = rm[:, newaxis] < M && rk[newaxis, :] < k;
    bool inside_b[TK, TN] = rk[:, newaxis] < k && rn[newaxis, :] < N;
    TYPE a[TM, TK] = inside_a ? *pa : 0;
    TYPE b[TK, TN] = inside_b ? *pb : 0;
    acc += a @ b;
    pa += TK * stride_ak;
    pb += TK * stride_bk;
  }
  bool inside_c[TM, TN] = rm[:, newaxis] < M && rn[newaxis, :] < N;
  TYPE *pc[TM, TN] = C + rm[:, newaxis] * stride_cm + rn[newaxis, :];
  *?(inside_c) pc = acc;
}
"""

# The points of the sweep, spelled as in 2021: numbers as text, a config for each point.
CONFIGS = [
    triton.config(defines={"TM": "128", "TN": "128", "TK": "32", "GROUP": "8"}, num_warps=4),
    triton.config(defines={"TM": "128", "TN": "256", "TK": "64", "GROUP": "8"}, num_warps=8),
    triton.config(defines={"TM": "256", "TN": "128", "TK": "32", "GROUP": "8"}, num_warps=8),
    triton.config(defines={"TM": "128", "TN": "64", "TK": "32", "GROUP": "8"}, num_warps=4),
    triton.config(defines={"TM": "64", "TN": "128", "TK": "32", "GROUP": "8"}, num_warps=4),
    triton.config(defines={"TM": "64", "TN": "64", "TK": "16", "GROUP": "4"}, num_warps=4),
    # for products of which each processor has one tile or two: few steps, and much in flight
    triton.config(defines={"TM": "64", "TN": "128", "TK": "64", "GROUP": "8"}, num_warps=4),
    triton.config(defines={"TM": "128", "TN": "64", "TK": "64", "GROUP": "8"}, num_warps=4),
    triton.config(defines={"TM": "64", "TN": "64", "TK": "64", "GROUP": "8"}, num_warps=4),
]
# The interpreter takes the first point, and a small one suits it.
SMALL = [triton.config(defines={"TM": "32", "TN": "16", "TK": "16", "GROUP": "2"}, num_warps=4)]

kernels: dict[tuple[torch.dtype, str], triton.kernel] = {}


def kernel_for(dtype: torch.dtype, device: torch.device) -> triton.kernel:
    """The kernel for an element type, tuned again whenever M, N or K changes. Made once."""
    key = dtype, device.type
    if key not in kernels:
        kernels[key] = triton.kernel(
            *(SOURCE, device),
            defines={"TYPE": dtype},
            autotune_configs=CONFIGS if device.type == "cuda" else SMALL,
            autotune_key=["M", "N", "K"],
        )
    return kernels[key]


def launch(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """C [M, N] = a [M, K] @ b [K, N]; both operands may have any strides."""
    (m, k), (k_of_b, n) = a.shape, b.shape
    if k != k_of_b:
        raise ValueError(f"inner sizes differ: {k} and {k_of_b}")
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    kernel_for(a.dtype, a.device)(
        *(a, b, c, m, n, k, *a.stride(), *b.stride(), c.stride(0)),
        grid=lambda opt: (triton.cdiv(m, opt.TM) * triton.cdiv(n, opt.TN),),
    )
    return c


class Matmul(torch.autograd.Function):
    """a @ b; the gradients are dc @ b^T and a^T @ dc, on transposed views."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(a, b)
        return launch(a, b)

    @staticmethod
    def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        a, b = ctx.saved_tensors
        return launch(dc, b.t()), launch(a.t(), dc)


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """a [M, K] @ b [K, N] with gradients."""
    return Matmul.apply(a, b)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    m, n, k = (2011, 1999, 1009) if device == "cuda" else (67, 45, 71)
    torch.manual_seed(0)
    a = torch.randn(m, k, device=device).half().requires_grad_()
    b = torch.randn(k, n, device=device).half().requires_grad_()
    dc = torch.randn(m, n, device=device).half()
    c = matmul(a, b)
    kernel = kernel_for(a.dtype, a.device)
    chosen = kernel.best_config
    c.backward(dc)
    x, y = (t.detach().double().requires_grad_() for t in (a, b))
    want = x @ y
    want.backward(dc.double())
    print(kernel.source())
    print(f"half {m} x {n} x {k} on {device}, chosen point: {chosen}\n")
    results = {"forward": (c.detach(), want.detach()), "grad a": (a.grad, x.grad), "grad b": (b.grad, y.grad)}
    for name, (got, exact) in results.items():
        print(f"relative error, {name}: {float((got.double() - exact).norm() / exact.norm()):.1e}")


if __name__ == "__main__":
    main()
