"""The matrix product of dot.py as an operator of PyTorch, under torch.compile.

The kernel and its wrapper are those of dot.py, unchanged: one Triton-C text for every transposition, with holes
that the wrapper fills. Here the wrapper becomes an operator. Its schema declares that it writes neither operand,
and each run is compared with that; its gradient is two more calls of the same operator, so second derivatives
exist too. A compiled function keeps the product and fuses what stands around it.

    python examples/dot_op.py
"""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from dot import kernel as dot_kernel
from dot import launch, legal_tiles, relative_error, text_defines

import pytriton

BACKEND = "inductor" if torch.cuda.is_available() else "aot_eager"  # the second needs no C++ compiler


@pytriton.op("dot_op::dot")
def dot(a: torch.Tensor, b: torch.Tensor, at: bool = False, bt: bool = False) -> torch.Tensor:
    """op(a) @ op(b), [M, N]; a is stored [M, K] (at: [K, M]), b is stored [K, N] (bt: [N, K])."""
    return launch(a, b, at, bt)


def keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    a, b, ctx.at, ctx.bt = inputs
    ctx.save_for_backward(a, b)


def backward(ctx: Any, dc: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """With x = op(a), y = op(b): dx = dc @ y^T and dy = x^T @ dc, each stored as its operand is."""
    a, b = ctx.saved_tensors
    da = dot(b, dc, ctx.bt, True) if ctx.at else dot(dc, b, False, not ctx.bt)
    db = dot(dc, a, True, ctx.at) if ctx.bt else dot(a, dc, not ctx.at, False)
    return da, db, None, None


dot.register_autograd(backward, setup_context=keep)
dot.register_flop_formula(
    lambda a, b, at=False, bt=False, **_: 2 * a[0] * a[1] * (b[0] if bt else b[1])  # 2 M K N
)


def layer(a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool) -> torch.Tensor:
    """What is compiled: a product between two elementwise operations."""
    return torch.relu(dot(a * 0.5, b, at, bt) + 1)


def layer_of_torch(a: torch.Tensor, b: torch.Tensor, at: bool, bt: bool) -> torch.Tensor:
    return torch.relu((a.t() if at else a) @ (b.t() if bt else b) * 0.5 + 1)


def errors(function: Any, m: int, n: int, k: int, at: bool, bt: bool, device: str) -> list[float]:
    """Relative errors of the result and of both gradients against torch in double precision."""
    a = torch.randn((k, m) if at else (m, k), device=device).half().requires_grad_()
    b = torch.randn((n, k) if bt else (k, n), device=device).half().requires_grad_()
    dc = torch.randn((m, n), device=device).half()
    c = function(a, b, at, bt)
    c.backward(dc)
    x, y = (one.detach().double().requires_grad_() for one in (a, b))
    wanted = layer_of_torch(x, y, at, bt)
    wanted.backward(dc.double() * (c > 0))  # where relu is zero in half, too
    pairs = ((c, wanted), (a.grad, x.grad), (b.grad, y.grad))
    return [relative_error(got, expected) for got, expected in pairs]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    m, n, k = (2048, 2048, 2048) if device == "cuda" else (96, 64, 32)
    torch.manual_seed(0)
    print(dot_kernel.source({**text_defines(torch.float16, False, False), **legal_tiles(m, n, k)}))
    print(f"{dot}\n")
    compiled = torch.compile(layer, backend=BACKEND, fullgraph=True)
    print(f"relative errors against torch (in double), half {m} x {n} x {k}")
    print(f"{'':20}{'forward':>12}{'grad a':>12}{'grad b':>12}")
    for at, bt in product((False, True), repeat=2):
        for name, function in (("eager", layer), ("compiled", compiled)):
            shown = f"{'^a' if at else 'a'} @ {'^b' if bt else 'b'}"
            row = errors(function, m, n, k, at, bt, device)
            print(f"{shown:9}{name:11}" + "".join(f"{error:12.1e}" for error in row))


if __name__ == "__main__":
    main()
