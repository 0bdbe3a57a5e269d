"""Fused elementwise arithmetic: y = scale * sin(x) in one pass over memory, with its gradient.

Every built-in works on whole blocks, and the arithmetic between a load and a store costs nothing
beside the memory traffic: that is why such kernels are written. `sin` of a half is computed in
float and rounded once, when it is stored.

    python examples/sin.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

FORWARD = """
__global__ void forward(TYPE *Y __noalias, TYPE *X __noalias __readonly, float scale, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  TYPE *px[TILE] = X + i;
  TYPE *py[TILE] = Y + i;
  *?(inside) py = scale * sin(*?(inside) px);
}
"""

BACKWARD = """
__global__ void backward(TYPE *DX __noalias,
                         TYPE *DY __noalias __readonly,
                         TYPE *X __noalias __readonly,
                         float scale, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  TYPE *pdx[TILE] = DX + i;
  TYPE *pdy[TILE] = DY + i;
  TYPE *px[TILE] = X + i;
  TYPE dy[TILE] = inside ? *pdy : 0;
  TYPE x[TILE] = inside ? *px : 0;
  *?(inside) pdx = scale * dy * cos(x);
}
"""

forward_kernel = triton.kernel(FORWARD)
backward_kernel = triton.kernel(BACKWARD)
TILE = [512, 1024]


class Sin(torch.autograd.Function):
    """scale * sin(x); the gradient is scale * dy * cos(x)."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, scale: float) -> torch.Tensor:
        ctx.save_for_backward(x)
        ctx.scale = scale
        n = x.numel()
        y = torch.empty_like(x)
        forward_kernel(
            *(y, x, scale, n),
            grid=lambda opt: (triton.cdiv(n, opt.TILE),),
            defines={"TYPE": x.dtype, "TILE": TILE},
        )
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, None]:
        (x,) = ctx.saved_tensors
        n = x.numel()
        dx = torch.empty_like(x)
        backward_kernel(
            *(dx, dy.contiguous(), x, ctx.scale, n),
            grid=lambda opt: (triton.cdiv(n, opt.TILE),),
            defines={"TYPE": x.dtype, "TILE": TILE},
        )
        return dx, None


def scaled_sin(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """scale * sin(x) for a contiguous x, differentiable in x."""
    return Sin.apply(x, scale)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    n = 1_000_003 if device == "cuda" else 5_003
    x = torch.linspace(-10, 10, n, device=device, requires_grad=True)
    y = scaled_sin(x, 0.5)
    y.sum().backward()
    exact = x.detach().double()
    print(forward_kernel.source({"TYPE": x.dtype, "TILE": TILE}))
    for name, got, want in (("forward", y, exact.sin()), ("gradient", x.grad, exact.cos())):
        print(f"largest error, {name}: {float((got.detach() - 0.5 * want).abs().max()):.1e}")


if __name__ == "__main__":
    main()
