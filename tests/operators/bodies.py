"""Random bodies of operators: launches among calls of torch, and the same function with torch for the launches.

A body is a list of steps. Each takes a value made so far, which is a matrix, and makes one more. ``Kernels`` runs
the launches as kernels, ``Formulas`` as functions of torch, so that autograd differentiates them. A step of
``REFUSED`` does what a body may not do; one of ``HIDDEN`` has no reference, as it depends on more than arguments.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

import pytriton

WAVE = pytriton.kernel("""__global__ void wave(T *y, T *x, float a, int rows, int cols, int s, int t) {
  int i = get_program_id(0);
  int j[8] = 0 ... 8;
  T v[8] = j < cols ? *(x + i * s + j * t) : 0;
  *?(j < cols) (y + i * cols + j) = sin(v) * a + v * v;
}
""")
PRODUCT = pytriton.kernel("""__global__ void product(T *y, T *x, T *w, int cols, int s, int t, int u, int v) {
  int i = get_program_id(0);
  int j[8] = 0 ... 8;
  T a[8] = j < cols ? *(x + i * s + j * t) : 0;
  T b[8] = j < cols ? *(w + i * u + j * v) : 0;
  *?(j < cols) (y + i * cols + j) = a * b;
}
""")
BESIDE = pytriton.kernel("""__global__ void beside(T *y, T *x, int n) {
  int j[4] = get_program_id(0) * 4 + 0 ... 4;
  *?(j < n) (y + j) = *?(j < n) (x + j - 1) * *?(j < n) (x + j + 1);
}
""")
PICKED = pytriton.kernel("""__global__ void picked(T *y, T *x, int *table, int n) {
  int j[4] = get_program_id(0) * 4 + 0 ... 4;
  int at[4] = j < n ? *(table + j) : 0;
  *?(j < n) (y + j) = cos(*?(j < n) (x + at));
}
""")
BACKWARDS = torch.tensor([0, -1, -2, 0], dtype=torch.int32)  # offsets from the middle of a slice


class Kernels:
    """Launches."""

    def wave(self, x: torch.Tensor, a: float) -> torch.Tensor:
        y = torch.empty(x.shape, dtype=x.dtype)
        WAVE(y, x, a, *x.shape, *x.stride(), grid=(x.shape[0],), defines={"T": x.dtype})
        return y

    def product(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = x.new_empty(x.shape)
        grid = lambda opt: (x.shape[0],)  # noqa: E731
        PRODUCT(y, x, w, x.shape[1], *x.stride(), *w.stride(), grid=grid, defines={"T": x.dtype})
        return y

    def beside(self, flat: torch.Tensor) -> torch.Tensor:
        """The kernel gets a slice, and reads the elements before and after it."""
        n = flat.numel() - 2
        rows = torch.zeros(2, n, dtype=flat.dtype)
        BESIDE(rows[1], flat[1:-1], n, grid=(pytriton.cdiv(n, 4),), defines={"T": flat.dtype})
        return rows

    def picked(self, flat: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        """At indices from memory, from the third element on."""
        y = torch.empty(1, len(table), dtype=flat.dtype)
        PICKED(
            y, flat[2:], table, len(table), grid=(pytriton.cdiv(len(table), 4),), defines={"T": flat.dtype}
        )
        return y


class Formulas:
    """The same in torch."""

    def wave(self, x: torch.Tensor, a: float) -> torch.Tensor:
        return torch.sin(x) * a + x * x

    def product(self, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return x * w

    def beside(self, flat: torch.Tensor) -> torch.Tensor:
        row = flat[:-2] * flat[2:]
        return torch.stack([torch.zeros_like(row), row])

    def picked(self, flat: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return torch.cos(flat[2 + table.long()])[None]


def number(value: Any) -> float:
    return float(value)


Step = Callable[[Any, torch.Tensor], torch.Tensor]
VIEWS: dict[str, Step] = {
    "t": lambda run, x: x.t(),
    "transpose": lambda run, x: torch.transpose(x, 0, 1),
    "T": lambda run, x: x.T,
    "rows": lambda run, x: x[1:] if len(x) > 1 else x[:],
    "every other": lambda run, x: x[:, ::2],
    "row": lambda run, x: x[-1][None],
    "column": lambda run, x: x[:, :1].expand(-1, 3),
    "select": lambda run, x: x.select(0, 0).unsqueeze(0),
    "repeated row": lambda run, x: x[:1].expand(4, x.shape[1]),
    "narrow": lambda run, x: x.narrow(1, 0, 1),
    "split": lambda run, x: x.split(1)[-1],
    "unbind": lambda run, x: x.unbind(1)[0][:, None],
    "chunk": lambda run, x: x.chunk(2, 1)[0],
    "swapaxes": lambda run, x: x.swapaxes(0, 1),
    "movedim": lambda run, x: x.movedim(0, -1),
    "diagonal": lambda run, x: x.diagonal()[None],
    "windows": lambda run, x: x[0].unfold(0, min(2, x.shape[1]), 1),
    "broadcast": lambda run, x: torch.broadcast_to(x, (2, *x.shape))[1],
    "squeeze": lambda run, x: x[None].squeeze(0),
    "iterate": lambda run, x: next(iter(x))[None],
}
COPIES: dict[str, Step] = {
    "contiguous": lambda run, x: x.contiguous(),
    "clone": lambda run, x: x.clone(),
    "reshape": lambda run, x: x.reshape(x.shape[1], x.shape[0]),
    "ravel": lambda run, x: x.ravel()[None, :8],
    "flatten": lambda run, x: torch.flatten(x).view(-1, 1)[:8],
    "turned": lambda run, x: x.t().contiguous(),
    "turned back": lambda run, x: x.t().reshape(-1).view(x.shape[1], x.shape[0]).t(),
    "float": lambda run, x: x.float(),
    "double": lambda run, x: x.to(torch.float64),
    "there and back": lambda run, x: x.to(torch.float32).to(x.dtype),
    "type_as": lambda run, x: x.type_as(x.new_empty(0, dtype=torch.float64)),
    "clone of a layout": lambda run, x: x.t().clone(memory_format=torch.contiguous_format),
    "to with a copy": lambda run, x: x.to(x.dtype, copy=True),
}
LAUNCHES: dict[str, Step] = {
    "wave": lambda run, x: run.wave(x, 0.5),
    "squares": lambda run, x: run.product(x, x),
    "by its first row": lambda run, x: run.product(x, x[:1].expand_as(x)),
    "by ones": lambda run, x: run.product(x, torch.ones_like(x)),
    "beside": lambda run, x: (
        run.beside(x.reshape(-1).contiguous()[:8]) if x.numel() > 2 else run.wave(x, 2.0)
    ),
    "by a range": lambda run, x: run.product(x, torch.full((1, 1), 3.0, dtype=x.dtype).expand_as(x)),
}
REFUSED: dict[str, Step] = {
    "times": lambda run, x: x * 2,
    "sin": lambda run, x: torch.sin(x),
    "cat": lambda run, x: torch.cat([x, x])[:4],
    "item": lambda run, x: run.wave(x, x[0, 0].item()),
    "number": lambda run, x: run.wave(x, x.sum()),
    "list": lambda run, x: run.wave(x, x.tolist()[0][0]),
    "numpy": lambda run, x: torch.from_numpy(x.numpy().copy()),
    "bits": lambda run, x: x.clone(memory_format=torch.contiguous_format).view(torch.int32).view(x.dtype),
    "table": lambda run, x: x[torch.tensor([0])],
    "mask": lambda run, x: x.masked_fill(x > 0, 1),
    "filled": lambda run, x: torch.empty_like(x).copy_(x),
    "in place": lambda run, x: x.clone().mul_(3),
    "assigned": lambda run, x: assigned(x),
    "data": lambda run, x: x.data,
    "detach": lambda run, x: x.detach(),
    "repeat": lambda run, x: x.repeat(2, 1)[:4],
    "flip": lambda run, x: x.flip(0),
    "where": lambda run, x: torch.where(x > 0, x, 0),
    "matmul": lambda run, x: x @ x.t(),
    "rounded": lambda run, x: x.to(torch.int32).to(x.dtype),
    "index": lambda run, x: x.index_select(0, torch.arange(1)),
    "zero-dimensional": lambda run, x: run.wave(x, x[0, 0]),
    "branch": lambda run, x: x.t() if x[0, 0] > 0 else x,
    "array": lambda run, x: torch.as_tensor(x.__array__()),
    "storage": lambda run, x: run.wave(x, x.untyped_storage()[0]),
    "caught": lambda run, x: caught(x),
    "data_ptr": lambda run, x: run.wave(x, float(x.data_ptr() % 7)),
    "no_grad": lambda run, x: without_gradient(x),
    "data set": lambda run, x: setattr(x, "data", x * 2) or x,
    "apply": lambda run, x: x.clone().apply_(lambda each: 2 * each),
    "overload": lambda run, x: torch.ops.aten.mul.Tensor(x, x),
}
HIDDEN: dict[str, Step] = {
    "rand": lambda run, x: torch.rand_like(x),
    "chance": lambda run, x: run.wave(x, random.random()),
    "counter": lambda run, x: run.wave(x, float(next(COUNTER))),
}
COUNTER = iter(range(1_000_000))


def assigned(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[0] = 0
    return y


def caught(x: torch.Tensor) -> torch.Tensor:
    """A body that does without what it may not do."""
    try:
        return x * 2
    except Exception:
        return x.clone()


def without_gradient(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return x.clone()


KINDS = (VIEWS, COPIES, LAUNCHES)


class Body:
    """Of a seed. ``doubtful``: it has a step that has to be refused, unless nothing comes of it."""

    def __init__(self, seed: int) -> None:
        choose = random.Random(seed)
        self.steps: list[tuple[str, Step, int]] = []
        bad = choose.choice([None, None, REFUSED, REFUSED, HIDDEN][: choose.choice([3, 5])])
        count = choose.randint(2, 6)
        place = choose.randrange(count)
        for at in range(count):
            kind = bad if bad is not None and at == place else choose.choice(KINDS)
            name = choose.choice(sorted(kind))
            self.steps.append((name, kind[name], choose.choice([at + 1, at + 1, choose.randrange(at + 2)])))
        self.bad = bad
        self.results = choose.choice([1, 1, 2])
        self.last = choose.choice(["wave", "wave", "contiguous", "view"])
        self.layout = choose.choice(["plain", "plain", "t", "strided", "expanded", "same"])
        self.rows, self.cols = choose.choice([(3, 4), (1, 5), (4, 1), (2, 3), (1, 1), (8, 8)])

    def __repr__(self) -> str:
        names = [f"{name} of {at}" for name, _, at in self.steps]
        return f"{self.layout} {self.rows}x{self.cols}: {', '.join(names)}; {self.results} of {self.last}"

    def run(
        self, run: Any, x: torch.Tensor, w: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """``x`` and ``w`` of one shape, and offsets."""
        values = [x, run.product(x, w)]
        for _, step, at in self.steps:
            value = step(run, values[at])
            if value.shape[0] > 8 or value.shape[1] > 8:
                value = value[:8, :8]
            values.append(value)
        finish: Step = {
            "wave": lambda run, x: run.wave(x, 2.0),
            "contiguous": lambda run, x: run.wave(x, 2.0).t().contiguous(),
            "view": lambda run, x: run.wave(x, 2.0).t()[:, :2],
        }[self.last]
        first = finish(run, values[-1])
        second = (
            run.picked(x.reshape(-1).contiguous(), table[: x.numel()]) if x.numel() > 2 else run.wave(x, 1.0)
        )
        return first, second if self.results == 2 else run.wave(values[-2], 1.0)

    def arguments(self, seed: int) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The leaves, and the arguments that are made of them."""
        generator = torch.Generator().manual_seed(seed)
        rows, cols = self.rows, self.cols

        def leaf(*shape: int) -> torch.Tensor:
            return torch.randn(shape, generator=generator, dtype=torch.double).requires_grad_()

        if self.layout == "t":
            leaves = [leaf(cols, rows), leaf(rows, cols)]
            return leaves, [leaves[0].t(), leaves[1]]
        if self.layout == "strided":
            leaves = [leaf(rows + 1, 2 * cols), leaf(rows, cols)]
            return leaves, [leaves[0][1:, ::2], leaves[1]]
        if self.layout == "expanded":
            leaves = [leaf(rows, cols), leaf(1, cols)]
            return leaves, [leaves[0], leaves[1].expand(rows, cols)]
        if self.layout == "same":
            leaves = [leaf(rows + 1, cols)]
            return leaves, [leaves[0][1:], leaves[0][:-1]]
        leaves = [leaf(rows, cols), leaf(rows, cols)]
        return leaves, leaves
