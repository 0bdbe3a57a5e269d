"""Kernels and operators that the tests of this directory share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

import pytriton

UNARY = """\
__global__ void unary(TYPE *y __noalias, TYPE *x __noalias __readonly, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  *?(inside) (y + i) = FUNCTION(*?(inside) (x + i));
}
"""
AXPY = """\
__global__ void axpy(float *y, float *x __readonly, float a, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE] = i < n;
  *?(inside) (y + i) = a * *?(inside) (x + i) + *?(inside) (y + i);
}
"""
# Without __readonly, and with holes that only a call fills.
COPY = """\
__global__ void copy(TYPE *to, TYPE *from, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  TYPE *pto[TILE] = to + i;
  TYPE *pfrom[TILE] = from + i;
  *?(i < n) pto = *?(i < n) pfrom HOLE;
}
"""

unary = pytriton.kernel(UNARY)
axpy = pytriton.kernel(AXPY, {"TILE": 16})
copy = pytriton.kernel(COPY)


def blocks(n: int) -> Any:
    return lambda opt: (pytriton.cdiv(n, opt.TILE),)


def elementwise(x: torch.Tensor, function: str) -> torch.Tensor:
    """A new contiguous tensor of function(x)."""
    x = x.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    unary(y, x, n, grid=blocks(n), defines={"TYPE": x.dtype, "TILE": 16, "FUNCTION": function})
    return y


@pytriton.op("pytriton_tests::sin")
def sin(x: torch.Tensor) -> torch.Tensor:
    """sin(x), whose gradient is another operator."""
    return elementwise(x, "sin")


@pytriton.op("pytriton_tests::cos")
def cos(x: torch.Tensor) -> torch.Tensor:
    return elementwise(x, "cos")


def keep_input(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])


sin.register_autograd(lambda ctx, dy: dy * cos(ctx.saved_tensors[0]), setup_context=keep_input)
cos.register_autograd(lambda ctx, dy: -dy * sin(ctx.saved_tensors[0]), setup_context=keep_input)
sin.register_flop_formula(lambda x_shape, **_: math.prod(x_shape))
sin.register_vmap(lambda info, in_dims, x: (sin(x), in_dims[0]))
cos.register_vmap(lambda info, in_dims, x: (cos(x), in_dims[0]))


@pytriton.op("pytriton_tests::exp")
def exp(x: torch.Tensor) -> torch.Tensor:
    """exp(x), whose gradient is made of torch's operators."""
    return elementwise(x, "exp")


exp.register_autograd(lambda ctx, dy: dy * torch.exp(ctx.saved_tensors[0]), setup_context=keep_input)


@pytriton.op("pytriton_tests::add_scaled_", mutates_args=("y",))
def add_scaled_(y: torch.Tensor, x: torch.Tensor, a: float = 1.0) -> None:
    """y += a * x, both contiguous."""
    n = y.numel()
    axpy(y, x, a, n, grid=blocks(n))


def loss(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """A number whose gradient by the weight needs the gradients of both operators."""
    return (sin(x * weight) * cos(weight)).square().mean()


def trains_alike(compiled: Callable[..., torch.Tensor], n: int, device: str, steps: int = 3) -> None:
    """Forward, backward and update with the compiled ``loss`` and the eager one end with the same n weights."""
    eager, other = (torch.full((n,), 0.3, device=device, requires_grad=True) for _ in range(2))
    for step in range(steps):
        x = torch.randn(n, generator=torch.Generator().manual_seed(step)).to(device)
        for weight, run in ((eager, loss), (other, compiled)):
            run(weight, x).backward()
            with torch.no_grad():
                weight -= 0.1 * weight.grad  # type: ignore[operator]
            weight.grad = None
    assert not bool((eager == 0.3).any())
    torch.testing.assert_close(eager, other)
