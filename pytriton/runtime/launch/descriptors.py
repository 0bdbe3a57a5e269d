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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from triton.runtime.driver import driver

from pytriton.passes.analysis.traits import Described, Edge
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


class Tile(NamedTuple):
    """What is asked of a launch about one descriptor, in numbers, as the launcher in C reads them, too.

    ``base``, ``stride`` and ``stop`` are positions of values (``stop`` -1: it is ``number``). The last tile of a
    program begins at ``ids`` times the size of the grid, plus ``last``, of rows and of columns; the loop moves it
    by ``down`` rows at a time.
    """

    base: int
    stride: int
    stop: int
    number: int
    size: int
    multiple: int
    down: int
    row_ids: tuple[int, int, int]
    last_row: int
    column_ids: tuple[int, int, int]
    last_column: int

    def suits(self, grid: Grid, values: Sequence[Any]) -> bool:
        """Whether the descriptor reaches what the text says."""
        (a, b, c), (d, e, f), (x, y, z) = self.row_ids, self.column_ids, grid
        address, distance = values[self.base], values[self.stride]
        return (
            address > 0
            and not address % _BYTES
            and 0 < distance <= MAX_INT
            and not distance % self.multiple
            and (a * x + b * y + c * z + self.last_row) * distance
            + (d * x + e * y + f * z + self.last_column)
            <= MAX_INT
            and (self.number if self.stop < 0 else values[self.stop]) + self.size <= MAX_INT
            and self.down * distance <= MAX_INT
        )


@dataclass(frozen=True, slots=True)
class Fits:
    """Whether a launch with this grid and these values reads what the text says."""

    tiles: tuple[Tile, ...]
    positive: tuple[int, ...] = ()  # the positions of values that have to be

    def __call__(self, grid: Grid, values: Sequence[Any]) -> bool:
        x, y, z = grid
        return (
            (not self.tiles or x * y * z <= MAX_PROGRAMS)
            and all(tile.suits(grid, values) for tile in self.tiles)
            and all(_SMALLEST <= values[at] <= _LARGEST for at in self.positive)
        )

    @property
    def packed(self) -> bytes:
        """The same for the launcher in C: of each tile all numbers in order."""
        numbers = [
            number
            for tile in self.tiles
            for entry in tile
            for number in (entry if isinstance(entry, tuple) else (entry,))
        ]
        return struct.pack(f"{len(numbers)}q", *numbers)


def fits_of(translation: Translation) -> Fits | None:
    """What must hold of a launch; None if all suit."""
    traits = translation.traits
    if not traits.described and not traits.positive:
        return None
    places = {parameter.name: at for at, parameter in enumerate(translation.parameters)}
    tiles = tuple(_tile(described, places) for described in traits.described)
    return Fits(tiles, tuple(places[name] for name in traits.positive))


def _tile(described: Described, places: Mapping[str, int]) -> Tile:
    rows, columns, stop = described.rows, described.columns, described.stop
    return Tile(
        base=places[described.base],
        stride=places[described.stride],
        stop=-1 if isinstance(stop, int) else places[stop],
        number=stop if isinstance(stop, int) else 0,
        size=(rows if described.down else columns).size,
        multiple=_BYTES // described.element_bytes,
        down=described.step if described.down else 0,
        row_ids=rows.ids,
        last_row=_last(rows),
        column_ids=columns.ids,
        last_column=_last(columns),
    )


def _last(edge: Edge) -> int:
    """The last index of a tile before the loop moves it, less what the size of the grid makes of it."""
    return edge.first + edge.size - 1 - sum(edge.ids)
