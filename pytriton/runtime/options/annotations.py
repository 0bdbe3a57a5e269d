"""Types of options, for annotations; ``OPTION_TYPES`` (table.py) checks the same at run time.

Invariant: a type accepts whatever its check accepts, and little more (tests/typing/test_options.py compares them).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypedDict

import numpy
import torch

Define = int | bool | float | str | torch.dtype
"""The value of a define, as plain Python."""

DefineGiven = Define | numpy.generic
Defines = Mapping[str, Any]  # not DefineGiven: mypy infers dict[str, object] for {"TM": 64, "TYPE": "half"}
Heuristic = Callable[[dict[str, Any]], Any]

Grid = SupportsIndex | Sequence[SupportsIndex] | Callable[[Any], SupportsIndex | Sequence[SupportsIndex]]
"""The programs of a launch along each axis, or a function of the options that returns them."""

KernelSource = str | bytes | os.PathLike[str]
Whole = int | numpy.integer[Any]
Device = torch.device | str | Whole
Real = int | float | numpy.number[Any]
Truth = bool | numpy.bool_
Names = str | Iterable[str]
Folders = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
Precision = Literal["ieee", "tf32", "tf32x3", "bf16x3", "bf16x6"]
Tune = Literal["full"]
Check = bool | Literal["strict"]

# A list of these is an axis of the sweep.
Warps = Whole | Iterable[Whole]
Stages = Whole | Iterable[Whole | None]
Precisions = Precision | Iterable[Precision]
Truths = Truth | Iterable[Truth]


class ConfigSettings(TypedDict, total=False):
    """The fields of a ``Config`` after ``defines`` and ``num_warps``; ``remap`` is what ``swizzle`` was called."""

    num_stages: Whole | None
    precision: Precision
    fast_math: Truth
    swizzle: int
    descriptors: bool
    packed: bool
    remap: int


class LaunchCall(Protocol):
    """What ``kernel(...)`` and ``kernel[grid](...)`` take.

    ``Kernel.__call__`` itself takes its keywords in one dictionary, which is faster than to name them.
    """

    def __call__(
        self,
        /,
        *arguments: Any,
        grid: Grid | None = None,
        defines: Defines | None = None,
        num_warps: Warps | None = None,
        num_stages: Stages | None = None,
        bench: SupportsIndex | None = 0,
        **more_defines: DefineGiven | Sequence[DefineGiven],
    ) -> int | None:
        """Launch the kernel once."""
