"""Derived backwards beside those that people wrote: GELU with a bias, softmax, layer norm, cross-entropy, dot.

Each program comes from another example. `pytriton.gradient` derives its backward from the text of its forward; the
hand-written one stands in that example, or below. Both are printed and compared with torch in double;
`python -m benchmarks.gradients` times them.

    python examples/derived_gradients.py [gelu | softmax | layer_norm | cross_entropy | dot]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cross_entropy_logsum as entropy
import dot as classic
import gelu_gradient as biased
import layer_norm as norm
import softmax as rowwise
import torch
import torch.nn.functional as F

import pytriton

GELU_BACKWARD = """
// each program takes every PARTS-th row of TILE columns; DBIAS [PARTS, n]: its share of the gradient of the bias
__global__ void backward(TYPE *DY __readonly, TYPE *X __readonly, TYPE *BIAS __readonly, TYPE *DX __noalias,
                         float *DBIAS __noalias, int rows, int n) {
  int part = get_program_id(0);
  int r[TILE] = get_program_id(1) * TILE + 0 ... TILE;
  bool inside[TILE] = r < n;
  float bias[TILE] = inside ? *(BIAS + r) : 0;
  float dbias[TILE] = 0;
  for (int row = part; row < rows; row += get_num_programs(0)) {
    long off[TILE] = (long)row * n + r;
    float v[TILE] = bias + (inside ? *(X + off) : 0);
    float dy[TILE] = inside ? *(DY + off) : 0;
    float slope[TILE] = 0.5 * (1 + erf(v * 0.70710678)) + v * 0.39894228 * exp(-0.5 * v * v);
    float dx[TILE] = dy * slope;
    *?(inside) (DX + off) = dx;
    dbias += dx;
  }
  *?(inside) (DBIAS + (long)part * n + r) = dbias;
}
"""
PARTS = 512  # programs along the rows

gelu_backward = pytriton.kernel(GELU_BACKWARD)
Warps = int | list[int]
Tensors = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class Pair:
    """One program: the forward's arguments and grid, what flows in, and two backwards."""

    name: str
    derived: Any
    arguments: tuple[Any, ...]
    grid: Any
    flowing: dict[str, torch.Tensor]
    by_hand: Callable[[], Tensors]
    hand_text: str
    torch_forward: Callable[..., torch.Tensor]  # of the inputs

    @property
    def inputs(self) -> Tensors:
        """The tensors whose gradients are computed, in the order of the derived ones."""
        names = self.derived.parameters
        return tuple(self.arguments[names.index(name)] for name in self.derived.inputs)

    def by_derivation(self) -> Tensors:
        """The gradients of the inputs."""
        return tuple(self.derived(*self.arguments, grid=self.grid, d_outputs=self.flowing).values())

    def exact(self) -> Tensors:
        """The same by torch, in double."""
        leaves = [t.detach().double().requires_grad_() for t in self.inputs]
        (flow,) = self.flowing.values()
        return torch.autograd.grad(self.torch_forward(*leaves), leaves, flow.double())


def gelu(device: str, rows: int, n: int, dtype: torch.dtype = torch.half, warps: Warps = 4) -> Pair:
    """GELU of x + bias, x [rows, n]."""
    x, dy = torch.randn(2, rows, n, device=device).to(dtype)
    bias = torch.randn(n, device=device).to(dtype)
    defines = {"TYPE": dtype, "TILE": min(1024, pytriton.next_power_of_2(n))}
    forward = pytriton.kernel(biased.GELU, num_warps=warps)

    def by_hand() -> Tensors:
        dx, parts = torch.empty_like(x), torch.empty(PARTS, n, device=device)
        grid = (PARTS, pytriton.cdiv(n, defines["TILE"]))
        gelu_backward(dy, x, bias, dx, parts, rows, n, grid=grid, defines=defines, num_warps=warps)
        return dx, parts.sum(0).to(dtype)

    return Pair(
        "gelu",
        pytriton.gradient(forward, defines=defines),
        (torch.empty_like(x), x, bias, n),
        (rows, pytriton.cdiv(n, defines["TILE"])),
        {"y": dy},
        by_hand,
        GELU_BACKWARD,
        lambda x, bias: F.gelu(x + bias),
    )


def softmax(device: str, rows: int, n: int, dtype: torch.dtype = torch.float, warps: Warps = 4) -> Pair:
    """Softmax of the rows of x."""
    x, dy = torch.randn(2, rows, n, device=device).to(dtype)
    y = x.softmax(1)
    defines = {**rowwise.types(dtype), "TN": pytriton.next_power_of_2(n)}

    def by_hand() -> Tensors:
        dx = torch.empty_like(y)
        rowwise.backward_kernel(dx, dy, y, n, grid=(rows,), defines=defines, num_warps=warps)
        return (dx,)

    return Pair(
        "softmax",
        pytriton.gradient(pytriton.kernel(rowwise.FORWARD, num_warps=warps), defines=defines),
        (y, x, n, n),
        (rows,),
        {"Y": dy},
        by_hand,
        rowwise.BACKWARD,
        lambda x: x.softmax(1),
    )


def layer_norm(device: str, rows: int, n: int, dtype: torch.dtype = torch.half, warps: Warps = 4) -> Pair:
    """Layer norm of the rows of x; the hand-written backward reads the statistics that the forward saved."""
    x, dy = torch.randn(2, rows, n, device=device).to(dtype)
    gamma, beta = torch.randn(2, n, device=device).to(dtype)
    y, mean, rstd = torch.empty_like(x), torch.empty(rows, device=device), torch.empty(rows, device=device)
    arguments = (x, y, gamma, beta, mean, rstd, n, 1e-5)
    defines = norm.defines(x)
    norm.forward_kernel(*arguments, grid=(rows,), defines=defines)

    def by_hand() -> Tensors:
        dx, dgamma, dbeta = torch.empty_like(x), torch.empty_like(gamma), torch.empty_like(beta)
        sums = torch.zeros(2, norm.BUFFERS, n, device=device)
        locks = torch.zeros(norm.BUFFERS, dtype=torch.int32, device=device)
        tensors = (x, dy, dx, gamma, mean, rstd, *sums, locks)
        norm.backward_kernel(*tensors, norm.BUFFERS, n, grid=(rows,), defines=defines, num_warps=warps)
        norm.finish_kernel(
            *(*sums, dgamma, dbeta, norm.BUFFERS, n),
            grid=(pytriton.cdiv(n, 64),),
            defines={"TYPE": dtype, "TN": 64, "TB": 16},
        )
        return dx, dgamma, dbeta

    forward = pytriton.kernel(norm.SOURCE, kernel="forward", num_warps=warps)
    return Pair(
        "layer norm",
        pytriton.gradient(forward, outputs=["Y"], defines=defines),
        arguments,
        (rows,),
        {"Y": dy},
        by_hand,
        norm.SOURCE[norm.SOURCE.index("// DGAMMA") :],
        lambda x, gamma, beta: F.layer_norm(x, (n,), gamma, beta),
    )


def cross_entropy(device: str, rows: int, n: int, dtype: torch.dtype = torch.float, warps: Warps = 8) -> Pair:
    """Cross-entropy, out of place; the hand-written backward reads the logsum that the forward saved."""
    x = torch.randn(rows, n, device=device).to(dtype)
    label = torch.randint(n, (rows,), device=device)
    loss, dloss = torch.empty_like(x[:, 0]), torch.randn(rows, device=device).to(dtype)
    logsum = torch.empty(rows, device=device)
    defines = entropy.defines(x)
    arguments = (x, label, loss, logsum, n)
    entropy.forward_kernel(*arguments, grid=(rows,), defines=defines)

    def by_hand() -> Tensors:
        dx = torch.empty_like(x)
        tensors = (x, label, logsum, dloss, dx)
        entropy.backward_kernel(*tensors, n, grid=(rows,), defines=defines, num_warps=warps)
        return (dx,)

    forward = pytriton.kernel(entropy.SOURCE, kernel="forward", num_warps=warps)
    return Pair(
        "cross-entropy",
        pytriton.gradient(forward, outputs=["LOSS"], defines=defines),
        arguments,
        (rows,),
        {"LOSS": dloss},
        by_hand,
        entropy.SOURCE[entropy.SOURCE.index("// DX") :],
        lambda x: F.cross_entropy(x, label, reduction="none"),
    )


def dot(device: str, m: int, n: int, k: int, dtype: torch.dtype = torch.half, tiles: Any = None) -> Pair:
    """c = a @ b; the hand-written backward is two more calls of the same kernel."""
    a, b = torch.randn(m, k, device=device).to(dtype), torch.randn(k, n, device=device).to(dtype)
    c, dc = torch.empty(m, n, device=device, dtype=dtype), torch.randn(m, n, device=device).to(dtype)
    tiles = tiles or {"TM": 32, "TN": 32, "TK": 16}
    defines = {**classic.text_defines(dtype, at=False, bt=False), **tiles}
    forward = pytriton.kernel(classic.SOURCE, num_warps=[4, 8] if device == "cuda" else 4)
    return Pair(
        "dot",
        pytriton.gradient(forward, defines=defines),
        (a, b, c, m, n, k, k, n, n),
        lambda opt: (pytriton.cdiv(m, opt.TM), pytriton.cdiv(n, opt.TN)),
        {"C": dc},
        lambda: (
            classic.launch(dc, b, False, True, tiles if device == "cpu" else None),
            classic.launch(a, dc, True, False, tiles if device == "cpu" else None),
        ),
        "// da = dc @ ^b, db = ^a @ dc: the forward's own text\n",
        torch.matmul,
    )


PAIRS: dict[str, Callable[[str], Pair]] = {
    "gelu": lambda device: gelu(device, 40, 300),
    "softmax": lambda device: softmax(device, 40, 300),
    "layer_norm": lambda device: layer_norm(device, 40, 300),
    "cross_entropy": lambda device: cross_entropy(device, 40, 300),
    "dot": lambda device: dot(device, 64, 96, 32),
}


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    print(pytriton.kernel(biased.GELU).source({"TYPE": "half", "TILE": 1024}))
    for name in [word for word in sys.argv[1:] if word in PAIRS] or PAIRS:
        pair = PAIRS[name](device)
        print(f"==== {pair.name}, derived ====\n\n{pair.derived.source}")
        print(f"==== {pair.name}, written by hand ====\n{pair.hand_text}")
        for whose, made in (("derived", pair.by_derivation()), ("hand-written", pair.by_hand())):
            for of, got, want in zip(pair.derived.inputs, made, pair.exact(), strict=True):
                error = float((got.double() - want).norm() / want.norm())
                print(f"relative error of {of}, {whose}: {error:.1e}")
        print()


if __name__ == "__main__":
    main()
