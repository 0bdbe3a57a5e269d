"""Kernels that read tiles through tensor descriptors: on which GPUs, for which launches, with whose memory.

passes/speed/descriptors.py has proved what a text can prove. ``fits_of`` asks the rest of each launch, with
Python's integers: the base and the distance of rows are positive multiples of 16 bytes, and no offset leaves 32
bits. (Then the text's own offsets wrap nowhere, so pointers and tiles reach the same elements, and no tile the end
of its descriptor.) A launch of which that does not hold goes to the same point without descriptors.

Each program builds its descriptors in memory that comes with the launch. Triton asks an allocator for it that a
user has to set, in every thread. Here each launch takes it from torch, on the stream where it runs, and gives it
back once it is queued (device.py): what is put there next runs behind it. A CUDA graph has memory of its own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from triton.runtime.driver import driver

from pytriton.passes.analysis.context import Described
from pytriton.pipeline import Translation
from pytriton.runtime.launch.device import Grid, style_here

__all__ = ["Fits", "describes", "fits_of"]

_HOPPER: Final = 90
MAX_INT: Final = 2**31 - 1
_BYTES: Final = 16  # what addresses and the distances of rows must be multiples of
_SMALLEST: Final = 2.0**-126  # of a scale: no subnormal float
_LARGEST: Final = 2.0**127  # and times log2(e) no infinity
MAX_PROGRAMS: Final = 1 << 16  # of one launch: each takes some hundred bytes of memory


def describes() -> bool:
    """Whether descriptors are worth a try on the current GPU: it copies tiles by itself."""
    target = driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= _HOPPER and style_here() is not None


@dataclass(frozen=True, slots=True)
class Fits:
    """Whether a launch with this grid and these values reads what the text says."""

    tiles: tuple[Described, ...]
    positive: tuple[int, ...] = ()  # the positions of values that have to be

    def __call__(self, grid: Grid, values: Sequence[Any]) -> bool:
        x, y, z = grid
        return (
            (not self.tiles or x * y * z <= MAX_PROGRAMS)
            and all(_suits(tile, grid, values) for tile in self.tiles)
            and all(_SMALLEST <= values[at] <= _LARGEST for at in self.positive)
        )

    @property
    def packed(self) -> bytes:
        """The same for the launcher in C: of each tile all numbers in order, but not ``feeds``."""
        numbers = [
            number
            for tile in self.tiles
            for entry in tile[:-1]
            for number in (entry if isinstance(entry, tuple) else (entry,))
        ]
        return struct.pack(f"{len(numbers)}q", *numbers)


def fits_of(translation: Translation) -> Fits | None:
    """What must hold of a launch; None if all suit."""
    traits = translation.traits
    return Fits(traits.described, traits.positive) if traits.described or traits.positive else None


def _suits(tile: Described, grid: Grid, values: Sequence[Any]) -> bool:
    """Whether the descriptor reaches what the text says."""
    (a, b, c), (d, e, f), (x, y, z) = tile.row_ids, tile.column_ids, grid
    address, distance = values[tile.base], values[tile.stride]
    row, column = a * x + b * y + c * z + tile.last_row, d * x + e * y + f * z + tile.last_column
    return (
        address > 0
        and not address % _BYTES
        and 0 < distance <= MAX_INT
        and not distance % tile.multiple
        and row * distance + column <= MAX_INT
        and (tile.number if tile.stop < 0 else values[tile.stop]) + tile.size <= MAX_INT
        and tile.down * distance <= MAX_INT
    )
