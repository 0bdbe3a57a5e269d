"""Kernels on the CPU: ``python -m benchmarks.cpu [WORDS OF ROWS]``.

Kernels are those of ``examples/``, through their public functions. Prints for each row the milliseconds of C
without and with memory checks and of torch eager (the best of several runs, taken in turns), and those of the
interpreter, which runs a part of the work once; its time is scaled to the whole. numba has a ratio where it is
installed.
Below: geometric means against the limits of issue 43.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy
import torch
import torch.nn.functional as F

from pytriton.runtime.native.processor import thread_count

RUNS: Final = 7
SECONDS: Final = 4.0  # of a row, after which no further run begins
# Seconds before a run: torch's threads still wait for work after torch's own, and take time from what comes next.
PAUSE: Final = 0.05
EXAMPLES: Final = Path(__file__).parents[1] / "examples"
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "interpreter": {"PYTRITON_CC": "none", "PYTRITON_CHECK": "0"},
    "C": {"PYTRITON_CC": "cc", "PYTRITON_CHECK": "0"},
    "checked": {"PYTRITON_CC": "cc", "PYTRITON_CHECK": "1"},
}
COLUMNS: Final = ("C", "checked", "torch")

Call = Callable[[], object]
# Input: how large. Output: what runs a kernel of a loaded example, and torch.
Row = Callable[[int], tuple[Callable[[ModuleType], object], Call]]


def add(rows: int) -> Any:
    x, y = torch.randn(2, rows * 1024)
    return lambda example: example.add(x, y, 1024), lambda: x + y


def sin(rows: int) -> Any:
    x = torch.randn(rows * 1024)
    return lambda example: example.scaled_sin(x, 0.5), lambda: x.mul(0.5).sin()


def softmax(rows: int) -> Any:
    x = torch.randn(rows, 1024)
    return lambda example: example.softmax(x), lambda: torch.softmax(x, 1)


def layer_norm(rows: int) -> Any:
    x, gamma, beta = torch.randn(rows, 1024), torch.randn(1024), torch.randn(1024)
    return (
        lambda example: example.layer_norm(x, gamma, beta),
        lambda: F.layer_norm(x, (1024,), gamma, beta),
    )


def product(dtype: torch.dtype) -> Row:
    def row(rows: int) -> Any:
        a, b = torch.randn(64 * rows, 1024).to(dtype), torch.randn(1024, 1024).to(dtype)
        tiles = {"TM": 64, "TN": 64, "TK": 32}
        return lambda example: example.dot(a, b, tiles=tiles), lambda: a @ b

    return row


def attention(heads: int) -> Any:
    q, k, v = torch.randn(3, 1, heads, 1024, 64)
    tiles = {"TM": 64, "TN": 64}
    return (
        lambda example: example.attention(q, k, v, tiles=tiles),
        lambda: F.scaled_dot_product_attention(q, k, v),
    )


def convolution(images: int) -> Any:
    x, weight = torch.randn(images, 64, 28, 28), torch.randn(64, 64, 3, 3)
    tiles = {"TM": 64, "TN": 64, "TK": 32}
    return (
        lambda example: example.conv2d(x, weight, padding=(1, 1), tiles=tiles),
        lambda: F.conv2d(x, weight, padding=1),
    )


def blocksparse(heads: int) -> Any:
    torch.manual_seed(0)
    layout = (torch.rand(heads, 32, 32) < 0.4).long()
    y = torch.randn(1, heads, 1024, 256)
    kept: dict[ModuleType, Any] = {}

    def run(example: ModuleType) -> object:
        if example not in kept:
            sparse = example.BlockSparse(layout, 32)
            kept[example] = sparse, torch.randn(1, int(layout.sum()), 32, 32)
        sparse, blocks = kept[example]
        return sparse.matmul("dsd", blocks, y)

    dense = torch.randn(1, heads, 1024, 1024)  # torch has no such product: the dense one
    return run, lambda: dense @ y


def cross_entropy(rows: int) -> Any:
    x, label = torch.randn(rows, 1024), torch.randint(0, 1024, (rows,))
    return (
        lambda example: example.cross_entropy(x, label),
        lambda: F.cross_entropy(x, label, reduction="none"),
    )


# name, example, row, size, size for the interpreter, whether memory bounds it
ROWS: Final[tuple[tuple[str, str, Row, int, int, bool], ...]] = (
    ("add", "vector_add", add, 1 << 14, 64, True),
    ("sin", "sin", sin, 1 << 14, 64, False),
    ("softmax", "softmax", softmax, 1 << 13, 64, True),
    ("layer norm", "layer_norm", layer_norm, 1 << 13, 64, True),
    ("product, float", "dot", product(torch.float32), 16, 1, False),
    ("product, half", "dot", product(torch.float16), 16, 1, False),
    ("attention", "attention", attention, 16, 1, False),
    ("convolution", "conv2d", convolution, 32, 1, False),
    ("block-sparse", "blocksparse_matmul", blocksparse, 8, 1, False),
    ("cross-entropy", "cross_entropy", cross_entropy, 1 << 13, 64, True),
)


def loaded(example: str, mode: str) -> ModuleType:
    """A copy of an example's module: here its kernels decide about checks, and at a launch what runs them."""
    os.environ.update(MODES[mode])
    spec = importlib.util.spec_from_file_location(f"{example}_{mode}", EXAMPLES / f"{example}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def milliseconds(call: Call, mode: str = "") -> float:
    os.environ.update(MODES.get(mode, {}))
    start = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - start)


def with_numba(name: str) -> Iterator[tuple[str, Call]]:
    """The same by numba, where that is installed and a loop over elements is all there is to write."""
    if name != "add" or importlib.util.find_spec("numba") is None:
        return
    numba = importlib.import_module("numba")

    @numba.njit(parallel=True)  # type: ignore[untyped-decorator]
    def summed(x: Any, y: Any, z: Any) -> None:
        for i in numba.prange(x.size):
            z[i] = x[i] + y[i]

    x = numpy.ones(1 << 24, numpy.float32)
    yield "numba", lambda: summed(x, x, numpy.empty_like(x))


def measured(name: str, example: str, row: Row, size: int, part: int) -> dict[str, float]:
    """The times of a row."""
    ours, theirs = row(size)
    modules = {mode: loaded(example, mode) for mode in MODES}
    calls: dict[str, Call] = {mode: lambda mode=mode: ours(modules[mode]) for mode in ("C", "checked")}  # type: ignore[misc]
    calls |= {"torch": theirs, **dict(with_numba(name))}
    for mode, call in calls.items():
        for _ in range(3):  # compiled, then compiled for speed
            milliseconds(call, mode)
    best = dict.fromkeys(calls, math.inf)
    start = time.perf_counter()
    for _ in range(RUNS):
        for mode, call in calls.items():
            time.sleep(PAUSE)
            best[mode] = min(best[mode], milliseconds(call, mode))
        if time.perf_counter() - start > SECONDS:
            break
    small, _ = row(part)
    milliseconds(lambda: small(modules["interpreter"]), "interpreter")
    once = milliseconds(lambda: small(modules["interpreter"]), "interpreter")
    return {**best, "interpreter": once * size / part}


def mean(ratios: list[float]) -> float:
    """Geometric."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def main(words: list[str]) -> None:
    print(f"{thread_count()} threads; interpreter: a part of the work, scaled; milliseconds")
    print(f"{'':16}" + "".join(f"{column:>10}" for column in COLUMNS) + f"{'interpreter':>14}   ratios")
    over_interpreter, over_torch, checks = [], [], []
    for name, example, row, size, part, by_memory in ROWS:
        if words and not any(word in name for word in words):
            continue
        times = measured(name, example, row, size, part)
        ours = times["C"]
        over_interpreter.append(times["interpreter"] / ours)
        over_torch.append(times["torch"] / ours)
        checks.append(times["checked"] / ours)
        ratios = (
            f"interpreter/C {over_interpreter[-1]:.0f}, torch/C {over_torch[-1]:.2f}, checks {checks[-1]:.2f}"
        )
        late = " BELOW 0.65" if by_memory and over_torch[-1] < 0.65 else ""
        more = f", numba/C {times['numba'] / ours:.2f}" if "numba" in times else ""
        columns = "".join(f"{times[column]:10.1f}" for column in COLUMNS)
        print(f"{name:16}{columns}{times['interpreter']:14.0f}   {ratios}{more}{late}", flush=True)
    print(f"\ninterpreter/C {mean(over_interpreter):.0f} (at least 300)")
    print(f"torch/C {mean(over_torch):.2f} (at least 0.5; 0.65 in each row that memory bounds)")
    print(f"checks: mean {mean(checks):.2f}, largest {max(checks):.2f} (at most 2)")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
