"""Launches of the examples and of the old packages, as data that can be launched again, changed.

Each program runs once at its smallest size; of each kernel, at each set of defines, the first launch is kept: the
text, what was asked of it, the arguments (copied before the launch) and the grid.
"""

from __future__ import annotations

import contextlib
import io
import math
import runpy
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

import pytriton
from pytriton.runtime.tune.benchmark import Launch

__all__ = ["QUICK", "Recorded", "recorded"]

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MAX_PROGRAMS = 64
QUICK = ("vector_add", "copy_transpose", "softmax", "lean2019")  # take little time


@dataclass(frozen=True)
class Recorded:
    """One launch. ``arguments`` are tensors, numbers and None, in the order of ``names``."""

    program: str
    text: str
    kernel: str | None
    defines: Mapping[str, Any]
    names: tuple[str, ...]
    arguments: tuple[Any, ...]
    grid: tuple[int, int, int]

    @property
    def label(self) -> str:
        return f"{self.program}:{self.kernel or 'first'}"

    def made(self, check: Any = None) -> pytriton.Kernel:
        return pytriton.kernel(
            self.text, defines=self.defines, kernel=self.kernel, check=check, name="kernel.c"
        )


@cache
def recorded(programs: tuple[str, ...] | None = None) -> tuple[Recorded, ...]:
    """Those of some programs, or of all, in a fixed order."""
    found: dict[tuple[Any, ...], Recorded] = {}
    for name, program in (*_examples(), *_packages()):
        if programs is not None and name not in programs:
            continue
        torch.manual_seed(0)
        with _recording(name, found), contextlib.redirect_stdout(io.StringIO()):
            program()
    return tuple(found.values())


@contextlib.contextmanager
def _recording(name: str, found: dict[tuple[Any, ...], Recorded]) -> Iterator[None]:
    plain = Launch.__call__

    def record(launch: Launch) -> None:
        memory, candidate = launch.memory, launch.candidate
        assert memory is not None
        key = (candidate._text.source.text, candidate.translation.kernel, candidate.config)
        if key not in found and math.prod(launch.grid) <= MAX_PROGRAMS and not candidate.binder.buffers:
            found[key] = Recorded(
                name,
                candidate._text.source.text,
                candidate.translation.kernel,
                candidate.config.defines,
                tuple(parameter.name for parameter in candidate.binder.parameters),
                _copied(memory.arguments),
                launch.grid,
            )
        plain(launch)

    Launch.__call__ = record  # type: ignore[method-assign]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        Launch.__call__ = plain  # type: ignore[method-assign]


def _copied(arguments: Any) -> tuple[Any, ...]:
    return tuple(x.detach().clone() if isinstance(x, torch.Tensor) else x for x in arguments)


def _examples() -> Iterator[tuple[str, Callable[[], object]]]:
    for path in EXAMPLES:
        yield path.stem, lambda path=path: _script(path)  # type: ignore[misc]


def _script(path: Path) -> None:
    arguments, sys.argv = sys.argv, [str(path)]
    folder = str(path.parent)
    sys.path.insert(0, folder)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        sys.argv = arguments
        sys.path.remove(folder)


def _packages() -> Iterator[tuple[str, Callable[[], object]]]:
    from tests.legacy import test_packages as programs

    yield "lean2019", lambda: programs.test_2019_dot("cpu", False, True)
    yield "lean2019", lambda: programs.test_2019_batchnorm("cpu")
    yield "contract2020", lambda: programs.test_2020_einsum("cpu", "bhmk,bhnk->bhmn")
    yield "tutorials2020", lambda: programs.test_2020_vector_add("cpu")
    yield "tutorials2020", lambda: programs.test_2020_matmul("cpu", torch.float32)
    yield "tutorials2020", lambda: programs.test_2020_conv("cpu", 1)
    for name in programs.SPARSE:
        for mode in ("sdd", "dsd", "dds"):
            yield (
                name,
                lambda name=name, mode=mode: programs.test_sparse_matmul("cpu", name, mode, False, True),
            )  # type: ignore[misc]
        yield name, lambda name=name: programs.test_sparse_attention("cpu", name, programs.MASKS["all"])  # type: ignore[misc]
    yield "ops2021", lambda: programs.test_2021_matmul("cpu", "nn")
    yield "ops2021", lambda: programs.test_2021_softmax("cpu", 37, torch.float32)
    yield "ops2021", lambda: programs.test_2021_cross_entropy("cpu", 37)
