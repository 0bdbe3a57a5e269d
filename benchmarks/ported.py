"""Rows: the product and the softmax of an old package, ported, beside the same package as it was written.

The package is `tests/legacy/packages/ops2021`. `pytriton port` writes it anew into a temporary folder;
the ported one runs under another name and without pytriton, the old one with `import triton` meaning pytriton. Both
tune over the points of the package, and over other stages and programs in groups for the best of them: the same
points (tests/port/test_launcher.py). The time of a row is that of the operator in a CUDA graph: what a call costs
the host differs, and a program that launches ahead does not wait for it (docs/porting.md).
"""

from __future__ import annotations

import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

import pytriton
from benchmarks.measure import OURS, Contender, Row, Settings

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ROOT / "tests" / "legacy" / "packages"
TARGET = 0.98  # of the speed of the old text


@cache
def packages() -> tuple[ModuleType, ModuleType]:
    """The ported package, and the old one."""
    folder = Path(tempfile.mkdtemp())
    command = [sys.executable, "-m", "pytriton", "port", str(PACKAGES / "ops2021"), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    (folder / "ops2021").rename(folder / "ported_ops2021")
    sys.path[:0] = [str(folder), str(PACKAGES)]
    pytriton.legacy_imports("ops2021")
    return importlib.import_module("ported_ops2021"), importlib.import_module("ops2021")


def ported(settings: Settings) -> Iterator[Row]:
    """Square products of half, softmax over 4096 rows of float; nothing on a CPU, where tests/port runs them."""
    if settings.smoke:
        return
    new, old = packages()
    for n in settings.sizes([1024, 2048, 4096], [2048], []):
        a, b = torch.randn(2, n, n, device=settings.device).half()
        want = (a.double() @ b.double()).float()
        yield _row(
            "ported product", f"{n}³ half", new.matmul, old.matmul, (a, b), want, 1e-2, 2 * n**3, "TFLOP/s"
        )
    rows = 4096
    for n in settings.sizes([1024, 4000, 8192], [4096], []):
        x = torch.randn(rows, n, device=settings.device)
        want = x.double().softmax(1).float()
        case, amount = f"{rows} x {n} float", 2 * x.nbytes
        yield _row("ported softmax", case, new.softmax, old.softmax, (x,), want, 1e-6, amount, "GB/s")


def _chosen(package: ModuleType) -> str:
    """The point that the package's last product runs at."""
    kernels = importlib.import_module(f"{package.__name__}.matmul")._matmul.kernels
    if not kernels:
        return ""
    kernel = list(kernels.values())[-1]
    if package is packages()[1]:
        config = kernel.best_config
        return str(config)
    ((_, tuned),) = kernel.sweeps.values()
    *_, (passed, _) = tuned.values()
    return " ".join(f"{name}={value}" for name, value in passed.items())


def _captured(function: Any, inputs: tuple[torch.Tensor, ...]) -> Callable[[], torch.Tensor]:
    """The operator as a CUDA graph, captured at the first call, after a launch that tunes it."""

    @cache
    def captured() -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        function(*inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result = function(*inputs)
        return graph, result

    def replayed() -> torch.Tensor:
        graph, result = captured()
        graph.replay()
        return result

    return replayed


def _row(
    name: str,
    case: str,
    new: Any,
    old: Any,
    inputs: tuple[torch.Tensor, ...],
    want: torch.Tensor,
    tolerance: float,
    amount: float,
    unit: str,
) -> Row:
    contenders = [
        Contender(OURS, _captured(new, inputs), chosen=lambda: _chosen(packages()[0])),
        Contender("the old text", _captured(old, inputs), TARGET, chosen=lambda: _chosen(packages()[1])),
    ]
    return Row(name, case, contenders, want, tolerance, amount, unit)
