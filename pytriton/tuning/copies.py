"""Launches on packed copies of operands: for which launches they are exact, and the copies.

passes/speed/packing.py has proved what the source can prove. The rest is checked at each launch, in Python's
integers: no
index is negative, no offset wraps, the copied memory does not meet what the launch writes, and some row does not
begin or end at 16 bytes. Then the copies are made, in memory that torch gives for the stream of the launch, and the
kernel runs on them. What does not suit runs the same config without copies, and so does a launch while a CUDA graph
is captured, or without memory for them.

The copying kernel is Triton-C of our own, and runs wherever kernels run. It reads within the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, Final, NamedTuple

import torch

from pytriton.passes.analysis.context import Box, Packing, Side
from pytriton.passes.analysis.intervals import Interval, LaunchEvaluator, intervals
from pytriton.passes.speed.packing import ROW
from pytriton.runtime.launch.candidate import Prepared
from pytriton.runtime.launch.device import LARGEST_GRID, Grid
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.definition import KernelText
from pytriton.source import Source

_BYTES: Final = 16  # what fast loads take at a time
_MAX_INT: Final = 2**31 - 1
_TILE: Final = 64

WORDS: Final = {
    1: "char",
    2: "short",
    4: "int",
    8: "long",
}  # by their bytes

_SOURCE: Final = """
__global__ void pack(WORD *copy __noalias, WORD *from __noalias __readonly,
                     int rows, int columns, int height, int pitch, long by_row, long by_column) {
  int r[TILE] = get_program_id(1) * TILE + 0 ... TILE;
  int c[TILE] = get_program_id(0) * TILE + 0 ... TILE;
  bool inside[TILE, TILE] = r[:, newaxis] < rows && c[newaxis, :] < columns;
  WORD *p[TILE, TILE] = from + r[:, newaxis] * by_row + c[newaxis, :] * by_column;
  WORD x[TILE, TILE] = inside ? *p : 0;
  WORD *q[TILE, TILE] = copy + r[:, newaxis] * pitch + c[newaxis, :];
  *?(r[:, newaxis] < height && c[newaxis, :] < pitch) q = x;
}
"""


def copying(width: int) -> tuple[KernelText, Config]:
    """The kernel that copies elements of so many bytes."""
    return KernelText(Source(_SOURCE, "pack.c")), Config({"WORD": WORDS[width], "TILE": _TILE})


class _Reach(NamedTuple):
    """What a launch reaches of one parameter: ``rows`` and ``columns``, the distance of each in elements."""

    position: int
    width: int
    rows: int
    columns: int
    by_row: int
    by_column: int

    @property
    def bytes(self) -> int:
        """From the first to the end of the last."""
        return ((self.rows - 1) * self.by_row + (self.columns - 1) * self.by_column + 1) * self.width

    @property
    def is_ragged(self) -> bool:
        """Whether some row does not begin or end at 16 bytes of the first."""
        pairs = ((self.by_column, self.by_row, self.columns), (self.by_row, self.by_column, self.rows))
        return not any(
            near == 1 and far * self.width % _BYTES == 0 == extent * self.width % _BYTES
            for near, far, extent in pairs
        )


class _Copy(NamedTuple):
    """A copy of what is reached, of ``height`` rows that lie ``pitch`` elements apart."""

    of: _Reach
    height: int
    pitch: int

    @property
    def bytes(self) -> int:
        return self.height * self.pitch * self.of.width


class Copies:
    """The copies of one candidate's launches. ``copier`` gives the candidate that copies elements of a width."""

    def __init__(self, packing: Packing, copier: Callable[[int], Any]) -> None:
        self._packing, self._copier = packing, copier
        self.positions = tuple(box.base for box in packing.reads)
        self._sizes = lru_cache(64)(self._sizes_of)

    def of(self, grid: Grid, values: Sequence[Any]) -> tuple[_Copy, ...] | None:
        """The copies for a launch; None if it does not support or need copies."""
        sizes = self._sizes(grid, tuple([values[at] for at in self._packing.fixed]))
        if sizes is None:
            return None
        copies, written = sizes
        reads = [_range(copy.of, values) for copy in copies]
        writes = [_range(reach, values) for reach in written]
        disjoint = all(end <= other or past <= start for start, end in reads for other, past in writes)
        ragged = any(copy.of.is_ragged or values[copy.of.position] % _BYTES for copy in copies)
        return copies if disjoint and ragged and all(start > 0 for start, _ in reads) else None

    def launch(
        self, device: int, grid: Grid, values: Sequence[Any], run: Callable[[Sequence[Any]], object]
    ) -> bool:
        """``run`` with the addresses of copies; False where copies are impossible."""
        copies = self.of(grid, values)
        on_gpu = device >= 0
        with torch.cuda.device(device) if on_gpu else nullcontext():
            if copies is None or (on_gpu and torch.cuda.is_current_stream_capturing()):
                return False
            where = f"cuda:{device}" if on_gpu else "cpu"
            try:
                memory = [torch.empty(copy.bytes, dtype=torch.uint8, device=where) for copy in copies]
            except torch.cuda.OutOfMemoryError:
                return False
            replaced = list(values)
            for copy, scratch in zip(copies, memory, strict=True):
                self._fill(device, copy, values[copy.of.position], scratch.data_ptr())
                replaced[copy.of.position] = scratch.data_ptr()
            run(replaced)
        return True

    def _fill(self, device: int, copy: _Copy, address: int, to: int) -> None:
        of, copier = copy.of, self._copier(copy.of.width)
        sizes = (of.rows, of.columns, copy.height, copy.pitch, of.by_row, of.by_column)
        values, specialization, _ = copier.binder.bind((to, address, *sizes))
        grid = (-(-copy.pitch // _TILE), -(-copy.height // _TILE), 1)
        copier.launch(Prepared(device, grid, values, specialization))

    def _sizes_of(
        self, grid: Grid, numbers: tuple[Any, ...]
    ) -> tuple[tuple[_Copy, ...], tuple[_Reach, ...]] | None:
        """The copies and writes of a launch; None where they are unknown, or might overflow."""
        parameters = dict(zip(self._packing.fixed.values(), numbers, strict=True))
        launch = intervals(self._packing.values, parameters, grid)
        written = [_reach(box, launch) for box in self._packing.writes]
        copies = [_copy(box, launch) for box in self._packing.reads]
        copied, sure = [item for item in copies if item], [item for item in written if item]
        return (
            (tuple(copied), tuple(sure)) if len(copied) == len(copies) and len(sure) == len(written) else None
        )


def _reach(box: Box, launch: LaunchEvaluator[Interval]) -> _Reach | None:
    sides = box.rows, box.columns
    counts = [_count(side, launch) for side in sides]
    strides = [1 if side.stride is None else launch.parameters[side.stride] for side in sides]
    reach = _Reach(box.base, box.element_bytes, *counts, *strides)
    fits = min(counts) > 0 <= min(strides) and reach.bytes // reach.width <= _MAX_INT
    return reach if fits else None


def _copy(box: Box, launch: LaunchEvaluator[Interval]) -> _Copy | None:
    reach = _reach(box, launch)
    if reach is None:
        return None
    rows, columns = box.rows, box.columns
    height = reach.rows if not rows.step else _raised(reach.rows, rows.step)
    pitch = _raised(_bound(columns, launch), max(ROW, columns.step))
    steps = rows.step * max(reach.by_row, pitch), columns.step * reach.by_column
    limits = _bound(rows, launch) + ROW + rows.step, height * pitch, *steps
    fits = max(limits) <= _MAX_INT - ROW and -(-height // _TILE) <= LARGEST_GRID[1]
    return _Copy(reach, height, pitch) if fits else None


def _bound(side: Side, launch: LaunchEvaluator[Interval]) -> int:
    """A bound that there is, in this launch."""
    interval = None if side.bound is None else launch.of(side.bound)
    assert interval is not None
    return interval[0]


def _count(side: Side, launch: LaunchEvaluator[Interval]) -> int:
    """How many indices, from 0 on, are reached along an axis; 0 if that is not known."""
    interval = launch.of(side.indices)
    if interval is None or interval[0] < 0:
        return 0
    if side.bound is None:
        return interval[1] + 1
    bound = _bound(side, launch)
    if side.step:  # a step reaches no further than the next begins: so the copy ends with the last
        return bound if interval[1] < side.step else 0
    return min(bound, interval[1] + 1)


def _raised(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def _range(reach: _Reach, values: Sequence[Any]) -> tuple[int, int]:
    """From which address to which."""
    start = values[reach.position]
    return start, start + reach.bytes
