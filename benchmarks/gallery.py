"""The kernels of docs/gallery against torch.compile, forward and backward: ``python -m benchmarks.gallery``.

The other side is the same function written in torch, compiled; what torch has as an operation of its own
(convolutions, pooling, int8 products) is that operation, inside a compiled function. Backwards run on a graph
that is kept, and all sides allocate what they return. Both are checked against torch in double.

    python -m benchmarks.gallery [--smoke] [--quick] [--only NAME ...] [--json FILE]

Dropout is timed with a probability of nearly zero, so that two generators of random numbers give one result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks.measure import OURS, ROOT, Contender, Row, Settings, first_line, keep, parsed, printed

sys.path.insert(0, str(ROOT / "docs" / "gallery"))

from depthwise_conv import depthwise_conv
from dropout import dropout
from embedding import embedding
from gelu_bias import gelu_bias
from group_norm import group_norm
from int8_matmul import int8_matmul
from lstm_cell import gates
from max_pool import max_pool
from rms_norm import rms_norm
from rotary import rotary
from sparse import sddmm, spmm
from topk_softmax import topk_softmax
from transposed_conv import transposed_conv

COMPILED = "torch.compile"
HALF_ERROR, FLOAT_ERROR = 2e-3, 2e-5

Shape = tuple[int, ...]
Tensors = tuple[torch.Tensor, ...]
Function = Callable[..., torch.Tensor | Tensors]


@dataclass(frozen=True)
class Case:
    """A kernel at one size: ours and torch's functions of the same inputs.

    Those inputs that are floating have gradients, unless ``fixed`` counts them out from the end. ``operations``: of
    the forward; None where memory decides.
    """

    name: str
    label: str
    ours: Function
    theirs: Function
    inputs: Tensors
    fixed: int = 0
    operations: float | None = None
    backward: bool = True


def rows_of(case: Case, settings: Settings) -> Iterator[Row]:
    """Forward, and backward."""
    plain = [each.detach() for each in case.inputs]
    exact = [each.double() if each.is_floating_point() else each for each in plain]
    outputs = _floating(case.ours(*plain))
    error = HALF_ERROR if outputs[0].dtype == torch.half else FLOAT_ERROR
    moved = sum(each.nbytes for each in (*plain, *outputs))
    work = (case.operations, "TFLOP/s") if case.operations else (float(moved), "GB/s")
    compiled = settings.compiled(case.theirs)
    contenders = [
        Contender(OURS, lambda: _floating(case.ours(*plain))),
        Contender(COMPILED, lambda: _floating(compiled(*plain))),
    ]
    yield Row(case.name, case.label, contenders, _floating(case.theirs(*exact)), error, *work)
    if not case.backward:
        return
    wanted = [at for at in range(len(plain) - case.fixed) if plain[at].is_floating_point()]
    flows = [torch.randn_like(each) for each in outputs]

    def gradients(function: Function, inputs: list[torch.Tensor]) -> Callable[[], Tensors]:
        """The backward alone; the first run makes the graph."""
        leaves = [each.detach().requires_grad_(at in wanted) for at, each in enumerate(inputs)]
        graph: list[torch.Tensor] = []

        def run() -> Tensors:
            if not graph:
                graph.extend(_floating(function(*leaves)))
            into = [flow.to(each.dtype) for flow, each in zip(flows, graph, strict=True)]
            return torch.autograd.grad(graph, [leaves[at] for at in wanted], into, retain_graph=True)

        return run

    contenders = [
        Contender(OURS, gradients(case.ours, plain)),
        Contender(COMPILED, gradients(settings.compiled(case.theirs), plain)),
    ]
    moved += sum(plain[at].nbytes for at in wanted)
    work = (2 * case.operations, "TFLOP/s") if case.operations else (float(moved), "GB/s")
    want = gradients(case.theirs, exact)()
    yield Row(f"{case.name}, back", case.label, contenders, want, 2 * error, *work)


def _floating(outputs: torch.Tensor | Tensors) -> Tensors:
    """The outputs without indices."""
    tensors = (outputs,) if isinstance(outputs, torch.Tensor) else outputs
    return tuple(each for each in tensors if each.is_floating_point())


@dataclass(frozen=True)
class Maker:
    """Inputs of a run."""

    settings: Settings

    def randn(self, *shape: int, dtype: torch.dtype = torch.half) -> torch.Tensor:
        return torch.randn(shape, device=self.settings.device).to(dtype)

    def index(self, below: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
        return torch.randint(below, shape, device=self.settings.device).to(dtype)

    def sizes(self, usual: list[Shape], smoke: Shape) -> list[Shape]:
        return list(self.settings.sizes(usual, usual[:1], [smoke]))


def label(size: Shape) -> str:
    return " x ".join(map(str, size))


def dropouts(make: Maker) -> Iterator[Case]:
    p = 1e-9  # all elements but a few are kept
    for size in make.sizes([(32768, 4096)], (3, 100)):
        yield Case(
            *("dropout", label(size)),
            lambda x: dropout(x, p, 1),
            lambda x: F.dropout(x, p, training=True),
            (make.randn(*size),),
        )


def rms_norms(make: Maker) -> Iterator[Case]:
    for size in make.sizes([(32768, 4096), (65536, 1600), (1 << 20, 128)], (3, 100)):
        yield Case(
            *("RMS norm", label(size)),
            lambda x, w: rms_norm(x, w, 1e-6),
            lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6),
            (make.randn(*size), make.randn(size[-1])),
        )


def rotaries(make: Maker) -> Iterator[Case]:
    def theirs(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, dim=-1)
        c, s = cos[:, None], sin[:, None]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1).to(x.dtype)

    for size in make.sizes([(4, 4096, 32, 128), (8, 4096, 12, 64)], (2, 3, 4, 12)):
        angles = make.randn(size[1], size[3] // 2, dtype=torch.float)
        yield Case(
            *("rotary", label(size)), rotary, theirs, (make.randn(*size), angles.cos(), angles.sin()), fixed=2
        )


def gelus(make: Maker) -> Iterator[Case]:
    for size in make.sizes([(32768, 4096)], (3, 100)):
        inputs = make.randn(*size), make.randn(size[-1])
        yield Case("GELU with bias", label(size), gelu_bias, lambda x, bias: F.gelu(x + bias), inputs)


def topks(make: Maker) -> Iterator[Case]:
    for rows, n, k in make.sizes([(1 << 18, 64, 8), (1 << 17, 256, 8)], (3, 20, 4)):
        yield Case(
            *("top-k softmax", f"{rows} x {n}, k = {k}"),
            lambda x, k=k: topk_softmax(x, k),
            lambda x, k=k: x.topk(k, dim=1).values.softmax(1),
            (make.randn(rows, n, dtype=torch.float).argsort(1) * (8 / n) - 4,),  # without ties
        )


def embeddings(make: Maker) -> Iterator[Case]:
    for count, rows, n in make.sizes([(65536, 50304, 1024)], (20, 10, 100)):
        inputs = make.index(rows, count), make.randn(rows, n)
        yield Case("embedding", f"{count} of {rows} x {n}", embedding, F.embedding, inputs)


def depthwises(make: Maker) -> Iterator[Case]:
    for *size, r, stride in make.sizes(
        [(64, 128, 56, 56, 3, 1), (64, 384, 28, 28, 7, 1)], (2, 3, 8, 9, 3, 2)
    ):
        yield Case(
            *("depthwise", f"{label(tuple(size))}, {r} x {r}"),
            lambda x, w, s=stride, pad=r // 2: depthwise_conv(x, w, s, pad),
            lambda x, w, s=stride, pad=r // 2: F.conv2d(x, w[:, None], None, s, pad, groups=x.shape[1]),
            (make.randn(*size), make.randn(size[1], r, r)),
        )


def transposed(make: Maker) -> Iterator[Case]:
    for *size, n, r in make.sizes([(32, 256, 32, 32, 128, 4), (32, 512, 16, 16, 256, 3)], (1, 5, 4, 3, 6, 3)):
        images, channels, height, width = size
        x = make.randn(*size).contiguous(memory_format=torch.channels_last)
        yield Case(
            *("transposed", f"{label(tuple(size))} -> {n}, {r} x {r}"),
            lambda x, w: transposed_conv(x, w, 2, 1),
            lambda x, w: F.conv_transpose2d(x, w, None, 2, 1),
            (x, make.randn(channels, n, r, r) / channels**0.5),
            operations=2.0 * images * channels * height * width * n * r * r,
        )


def pools(make: Maker) -> Iterator[Case]:
    for size in make.sizes([(64, 128, 112, 112)], (2, 3, 8, 9)):
        yield Case(
            *("max pooling", f"{label(size)}, 3 x 3"),
            lambda x: max_pool(x, 3, 2, 1),
            lambda x: F.max_pool2d(x, 3, 2, 1),
            (make.randn(*size),),
        )


def lstms(make: Maker) -> Iterator[Case]:
    def theirs(g: torch.Tensor, bias: torch.Tensor, before: torch.Tensor) -> Tensors:
        i, f, g, o = (g + bias).chunk(4, dim=1)
        c = f.sigmoid() * before + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c

    for m, n in make.sizes([(16384, 2048)], (3, 20)):
        inputs = make.randn(m, 4 * n), make.randn(4 * n), make.randn(m, n)
        yield Case("LSTM gates", f"{m} x {n}", gates, theirs, inputs)


def int8s(make: Maker) -> Iterator[Case]:
    def theirs(a: torch.Tensor, w: torch.Tensor, sa: torch.Tensor, sw: torch.Tensor) -> torch.Tensor:
        product = torch._int_mm(a, w.t()) * sa[:, None] * sw
        return product.half() if sa.dtype == torch.float else product

    for n in make.settings.sizes([2048, 4096, 8192], [4096], [32]):
        a, w = (make.index(255, n, n, dtype=torch.int16).sub(127).to(torch.int8) for _ in range(2))
        scales = [make.randn(n, dtype=torch.float).abs() / 100 for _ in range(2)]
        yield Case(
            *("int8 product", f"{n}³"),
            lambda a, w, sa, sw: int8_matmul(a, w, sa, sw, torch.half),
            theirs,
            (a, w, *scales),
            operations=2.0 * n**3,
            backward=False,
        )


def sparses(make: Maker) -> Iterator[Case]:
    def multiplied(
        v: torch.Tensor, x: torch.Tensor, start: torch.Tensor, row: torch.Tensor, column: torch.Tensor
    ) -> torch.Tensor:
        y = torch.zeros(start.numel() - 1, x.shape[1], dtype=x.dtype, device=x.device)
        return y.index_add(0, row, v[:, None] * x[column])

    for rows, degree, n in make.sizes([(1 << 16, 32, 128), (1 << 17, 8, 64)], (9, 3, 40)):
        row = make.index(rows, rows * degree, dtype=torch.int32).sort().values
        column = make.index(rows, rows * degree, dtype=torch.int32)
        start = F.pad(torch.bincount(row, minlength=rows).cumsum(0), (1, 0)).int()
        a, b = (make.randn(rows, n, dtype=torch.float) for _ in range(2))
        size = f"{rows} rows of {degree}, {n} columns"
        yield Case(*("SDDMM", size), sddmm, lambda a, b, i, j: (a[i] * b[j]).sum(1), (a, b, row, column))
        yield Case(
            *("SpMM", size),
            lambda v, x, start, row, column: spmm(start, column, v, x),
            multiplied,
            (make.randn(rows * degree, dtype=torch.float), b, start, row, column),
        )


def group_norms(make: Maker) -> Iterator[Case]:
    for *size, groups in make.sizes([(32, 512, 64, 64, 32), (64, 256, 28, 28, 32)], (2, 6, 8, 9, 3)):
        yield Case(
            *("group norm", f"{label(tuple(size))}, {groups} groups"),
            lambda x, gamma, beta, groups=groups: group_norm(x, groups, gamma, beta, 1e-5),
            lambda x, gamma, beta, groups=groups: F.group_norm(x, groups, gamma, beta, 1e-5),
            (make.randn(*size), make.randn(size[1]), make.randn(size[1])),
        )


BENCHMARKS: dict[str, Callable[[Maker], Iterator[Case]]] = {
    "dropout": dropouts,
    "rms_norm": rms_norms,
    "rotary": rotaries,
    "gelu_bias": gelus,
    "topk_softmax": topks,
    "embedding": embeddings,
    "depthwise_conv": depthwises,
    "transposed_conv": transposed,
    "max_pool": pools,
    "lstm_cell": lstms,
    "int8_matmul": int8s,
    "sparse": sparses,
    "group_norm": group_norms,
}


def main() -> int:
    options = parsed("gallery", __doc__, list(BENCHMARKS))
    settings, wrong = Settings(options.smoke, options.quick), 0
    results: list[dict[str, Any]] = []
    for name in options.only:
        try:
            for case in BENCHMARKS[name](Maker(settings)):
                found, failed = printed(rows_of(case, settings), settings)
                results, wrong = results + found, wrong + failed
        except Exception as error:  # torch's side, or memory
            wrong += 1
            print(f"{name:14} failed: {first_line(error)}", flush=True)
    keep(results, options.json)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
