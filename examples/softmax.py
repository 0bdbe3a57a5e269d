"""Row softmax: one row per program, of any length, with its gradient.

A row is loaded once into a block of the next power of two, whose surplus elements are -infinity:
they vanish in the exponential and never reach memory. `x[max]` and `e[+]` reduce an axis, and a
block meets the scalar that is left as in NumPy. In `inside ? *px : v` the load itself is masked, so
nothing outside the row is touched.

    python examples/softmax.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

FORWARD = """
__global__ void forward(TYPE *Y __noalias, TYPE *X __noalias __readonly, int n, int ldx) {
  int row = get_program_id(0);
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  TYPE *px[TN] = X + row * ldx + rn;
  TYPE *py[TN] = Y + row * n + rn;
  // the largest element leaves as 1: nothing overflows
  ACC x[TN] = inside ? *px : -F32_INFINITY;
  ACC e[TN] = exp(x - x[max]);
  *?(inside) py = e / e[+];
}
"""

BACKWARD = """
__global__ void backward(TYPE *DX __noalias,
                         TYPE *DY __noalias __readonly,
                         TYPE *Y __noalias __readonly,
                         int n) {
  int rn[TN] = 0 ... TN;
  bool inside[TN] = rn < n;
  int offset[TN] = get_program_id(0) * n + rn;
  TYPE *py[TN] = Y + offset;
  TYPE *pdy[TN] = DY + offset;
  TYPE *pdx[TN] = DX + offset;
  ACC y[TN] = inside ? *py : 0;
  ACC dy[TN] = inside ? *pdy : 0;
  *?(inside) pdx = y * (dy - (y * dy)[+]);
}
"""

forward_kernel = triton.kernel(FORWARD, num_warps=4)
backward_kernel = triton.kernel(BACKWARD, num_warps=4)


def types(dtype: torch.dtype) -> dict[str, Any]:
    """The stored type, and the one to compute in: float, except for double."""
    return {"TYPE": dtype, "ACC": torch.promote_types(dtype, torch.float32)}


class Softmax(torch.autograd.Function):
    """softmax along the last axis; the gradient is y * (dy - sum(y * dy))."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        rows, n = x.shape
        y = torch.empty((rows, n), dtype=x.dtype, device=x.device)
        defines = {**types(x.dtype), "TN": triton.next_power_of_2(n)}
        forward_kernel(y, x, n, x.stride(0), grid=(rows,), defines=defines)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> torch.Tensor:
        (y,) = ctx.saved_tensors
        rows, n = y.shape
        dx = torch.empty_like(y)
        defines = {**types(y.dtype), "TN": triton.next_power_of_2(n)}
        backward_kernel(dx, dy.contiguous(), y, n, grid=(rows,), defines=defines)
        return dx


def softmax(x: torch.Tensor) -> torch.Tensor:
    """softmax of every row of x [rows, n]; rows may stand apart, elements of a row may not."""
    return Softmax.apply(x)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows, n = (4096, 1000) if device == "cuda" else (40, 1000)
    x = torch.randn(rows, n, device=device, requires_grad=True)
    dy = torch.randn(rows, n, device=device)
    y = softmax(x)
    y.backward(dy)
    exact = x.detach().double().requires_grad_()
    want = exact.softmax(dim=1)
    want.backward(dy.double())
    print(forward_kernel.source({**types(x.dtype), "TN": 1024}))
    for name, got, expected in (("forward", y.detach(), want.detach()), ("gradient", x.grad, exact.grad)):
        print(f"relative error, {name}: {float((got - expected).norm() / expected.norm()):.1e}")


if __name__ == "__main__":
    main()
