"""What a call through an operator costs more than the bare kernel call inside it, in microseconds of the host.

For one body and each way to make an operator of it, calls are timed in turn, many short rounds, and the best
round counts: on a busy machine that is the least disturbed one. Nothing is launched (the grid has a zero), so
that what is left is the operator. The last columns are ratios to `torch.library.custom_op`: that of our operator,
and that of the same by its name in `torch.ops`, which is what it would cost without operators/shortcut.py. The
shortcut pays as long as the second is above 0.5. Where a gradient is asked for, the bare call is in a
`torch.autograd.Function`, as it must be to have one at all.

    python -m benchmarks.operators
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

import pytriton

SOURCE = """\
__global__ void add(float *z __noalias, float *x __noalias __readonly, float *y __noalias __readonly, int n) {
  int i[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  *?(i < n) (z + i) = *?(i < n) (x + i) + *?(i < n) (y + i);
}
"""
kernel = pytriton.kernel(SOURCE, {"TILE": 128})


def double(x: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    kernel(z, x, x, 0, grid=(0,))
    return z


def add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    kernel(z, x, y, 0, grid=(0,))
    return z


def add_into(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> None:
    kernel(z, x, y, 0, grid=(0,))


def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return grads * (2 if len(grads) == 1 else 1)


def best(calls: Sequence[tuple[Callable[..., Any], Sequence[Any]]]) -> list[float]:
    """The best time of a call, in microseconds, over many rounds in turn."""
    times = [float("inf")] * len(calls)
    for _ in range(200):
        for at, (function, arguments) in enumerate(calls):
            start = time.perf_counter()
            for _ in range(100):
                function(*arguments)
            times[at] = min(times[at], (time.perf_counter() - start) * 1e4)
    return times


def in_a_graph(function: Callable[..., Any]) -> Callable[..., Any]:
    """The body with a gradient, without an operator."""
    members = {
        "forward": staticmethod(lambda ctx, *args: function(*args)),
        "backward": staticmethod(backward),
    }
    made: Any = type("Around", (torch.autograd.Function,), members)
    return made.apply


def ways(function: Callable[..., Any], gradient: bool, wanted: bool) -> list[Callable[..., Any]]:
    """The body; an operator of pytriton; the same by its name in torch.ops; one of custom_op."""
    name = f"benchmark_operators::{function.__name__}{'_gradient' if gradient else ''}"
    written = ("z",) if function is add_into else ()
    ours = pytriton.op(name, function, mutates_args=written)
    theirs: Any = torch.library.custom_op(f"{name}_custom", function, mutates_args=written)
    if gradient:
        ours.register_autograd(backward)
        theirs.register_autograd(backward)
    return [in_a_graph(function) if wanted else function, ours, ours.overload, theirs]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y, z = (torch.randn(8, device=device) for _ in range(3))
    print(f"torch {torch.__version__}, {device}; microseconds a call, beside the body")
    heads = f"{'body':>8}{'pytriton':>10}{'torch.ops':>11}{'custom_op':>11}{'ratio':>7}{'torch.ops':>11}"
    print(f"{'body':58}{heads}")
    for function, gradient, wanted, arguments in (
        (double, False, False, (x,)),
        (add, False, False, (x, y)),
        (add_into, False, False, (x, y, z)),
        (add, True, False, (x, y)),
        (add, True, True, (x.clone().requires_grad_(), y)),
    ):
        body, *others = best([(way, arguments) for way in ways(function, gradient, wanted)])
        ours, by_name, theirs = (other - body for other in others)
        shown = f"{function.__name__}{', gradient' * gradient}{' asked for' * wanted}"
        times = f"{body:8.2f}{ours:10.2f}{by_name:11.2f}{theirs:11.2f}"
        print(f"{shown:58}{times}{ours / theirs:7.2f}{by_name / theirs:11.2f}")


if __name__ == "__main__":
    main()
