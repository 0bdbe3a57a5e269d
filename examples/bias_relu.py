"""ReLU(x + bias), one bias per channel, with gradients: the bias' by scalar atomics.

x is [N, C, ...]; a program has a piece of one channel of one sample. Its share of the bias' gradient
is one number, `dx[+]`, which `f32_atomic_add` adds to the channel's: hundreds of programs may add to
one address, in any order. `DB` is float whatever the tensors are, so nothing is lost to rounding on
the way.

    python examples/bias_relu.py
"""

from __future__ import annotations

from typing import Any

import torch

import pytriton as triton

SOURCE = """
__global__ void forward(TYPE *X __noalias __readonly, TYPE *B __noalias __readonly,
                        TYPE *Y __noalias __writeonly, int L) {
  int c = get_program_id(1);
  long row = get_program_id(2) * get_num_programs(1) + c;
  int rl[TL] = get_program_id(0) * TL + 0 ... TL;
  bool inside[TL] = rl < L;
  // this channel's bias
  float b = *(B + c);
  TYPE *px[TL] = X + row * L + rl;
  TYPE *py[TL] = Y + row * L + rl;
  float x[TL] = inside ? *px : 0;
  x = x + b;
  // a NaN stays
  *?(inside) py = x < 0 ? 0 : x;
}

__global__ void backward(TYPE *DY __noalias __readonly, TYPE *Y __noalias __readonly,
                         TYPE *DX __noalias __writeonly, float *DB __noalias, int L) {
  int c = get_program_id(1);
  long row = get_program_id(2) * get_num_programs(1) + c;
  int rl[TL] = get_program_id(0) * TL + 0 ... TL;
  bool inside[TL] = rl < L;
  // pointers to operands
  TYPE *pdy[TL] = DY + row * L + rl;
  TYPE *py[TL] = Y + row * L + rl;
  TYPE *pdx[TL] = DX + row * L + rl;
  // gradient of the activation
  TYPE y[TL] = inside ? *py : 0;
  float dx[TL] = inside ? *pdy : 0;
  dx = y <= 0 ? 0 : dx;
  *?(inside) pdx = dx;
  // gradient of the bias
  f32_atomic_add(DB + c, dx[+]);
}
"""

TILES = [256, 512, 1024]

forward_kernel = triton.kernel(SOURCE, kernel="forward", num_warps=4)
backward_kernel = triton.kernel(SOURCE, kernel="backward", num_warps=4)


def sizes(x: torch.Tensor) -> tuple[int, int, int]:
    """Samples, channels, and elements of a channel: x seen as [N, C, L]."""
    n, c = x.shape[:2]
    return n, c, x.shape[2:].numel()


class BiasReLU(torch.autograd.Function):
    """y = max(x + bias, 0); the gradients need only the sign of y."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        n, c, length = sizes(x)
        y = torch.empty_like(x)
        forward_kernel(
            *(x, bias, y, length),
            grid=lambda opt: (triton.cdiv(length, opt.TL), c, n),
            defines={"TYPE": x.dtype, "TL": TILES},
        )
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        (y,) = ctx.saved_tensors
        n, c, length = sizes(y)
        dx = torch.empty_like(y)
        db = torch.zeros(c, dtype=torch.float32, device=y.device)
        backward_kernel(
            *(dy.contiguous(), y, dx, db, length),
            grid=lambda opt: (triton.cdiv(length, opt.TL), c, n),
            defines={"TYPE": y.dtype, "TL": TILES},
        )
        return dx, db.to(y.dtype)


def bias_relu(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """relu(x + bias) for x [N, C, ...] and bias [C] of one type."""
    return BiasReLU.apply(x.contiguous(), bias)


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    shape = (64, 128, 56, 56) if device == "cuda" else (3, 5, 19, 20)
    torch.manual_seed(0)
    x = torch.randn(shape, device=device, requires_grad=True)
    bias = torch.randn(shape[1], device=device, requires_grad=True)
    dy = torch.randn(shape, device=device)
    y = bias_relu(x, bias)
    y.backward(dy)
    exact_x, exact_bias = (t.detach().double().requires_grad_() for t in (x, bias))
    want = (exact_x + exact_bias[:, None, None]).relu()
    want.backward(dy.double())
    print(backward_kernel.source({"TYPE": "float", "TL": 1024}))
    results = {
        "forward": (y.detach(), want.detach()),
        "grad x": (x.grad, exact_x.grad),
        "grad bias": (bias.grad, exact_bias.grad),
    }
    for name, (got, expected) in results.items():
        print(f"relative error, {name}: {float((got - expected).norm() / expected.norm()):.1e}")


if __name__ == "__main__":
    main()
