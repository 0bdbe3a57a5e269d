"""What a package uses of the old Triton -> the module ``_triton`` that stands for it.

The module is templates/package_launcher.py.j2. Only the parts that are used are printed: sweeps, times, constant
buffers, the names of ``triton`` and of ``triton.testing``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytriton.emit.templates import render
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.imports import Uses

__all__ = ["NAMES", "PASSED", "launcher"]

# What is asked of triton: names of ours, and names that today's Triton has.
NAMES: Final = frozenset(
    """Kernel bench_registry cdiv_sum config ctx_registry empty function kernel read shape synchronize testing
    utils""".split()
)
PASSED: Final = frozenset(
    "Config __version__ autotune cdiv heuristics jit language next_power_of_2 runtime".split()
)


@dataclass(frozen=True)
class _Parts:
    """Which parts are printed."""

    names: frozenset[str]
    testing: tuple[str, ...]
    sweep: bool
    bench: bool
    constants: bool


def launcher(folder: str, uses: Uses, kernels: Sequence[PortedKernel], reads: bool, labels: bool) -> str:
    """The text.

    ``folder``: where the kernels are. ``reads``: texts in files were ported. ``labels``: some texts have labels.
    """
    names = set(uses.names) | ({"read"} if reads else set())
    if "utils" in names:
        names.add("id_dict")
    if "perf_report" in uses.testing or "Benchmark" in uses.testing:
        uses.testing |= {"perf_report", "Benchmark"}
    parts = _Parts(
        frozenset(names),
        tuple(sorted(uses.testing)),
        "config" in names
        or bool({"autotune_vals", "num_warps", "num_stages"} & uses.keywords)
        or any(kernel.sweeps for kernel in kernels),
        "bench" in uses.keywords or "bench_registry" in names,
        "set_constant" in uses.attributes or any(p.buffer for kernel in kernels for p in kernel.parameters),
    )
    return render(
        "package_launcher.py.j2",
        folder=folder,
        imports=list(_imports(parts, names & PASSED, labels)),
        names=parts.names,
        testing=parts.testing,
        sweep=parts.sweep,
        bench=parts.bench,
        constants=parts.constants,
        labels=labels,
    )


def _imports(parts: _Parts, passed: set[str], labels: bool) -> Iterator[str]:
    report = "perf_report" in parts.testing
    iterators = report or parts.constants
    if report:
        yield "import csv"
    yield "import ctypes"
    if parts.names & {"function", "ctx_registry"}:
        yield "import functools"
    if labels:
        yield "import importlib"
    yield "import itertools"
    if parts.bench or "do_bench" in parts.testing:
        yield "import time"
    yield f"from collections.abc import Callable, {'Iterator, ' * iterators}Mapping, Sequence"
    yield "from contextlib import nullcontext, suppress"
    yield "from dataclasses import dataclass, field"
    if report or "read" in parts.names:
        yield "from pathlib import Path"
    if parts.sweep or parts.bench:
        yield "from types import SimpleNamespace"
    yield "from typing import Any, NamedTuple"
    yield ""
    yield "import torch"
    yield "import triton"
    if parts.bench or parts.names & {"function", "ctx_registry", "id_dict"}:
        yield "from torch.utils.weak import WeakIdKeyDictionary"
    if passed:
        yield f"from triton import {', '.join(sorted(passed))}  # noqa: F401"
