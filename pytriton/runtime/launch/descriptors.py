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

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from triton.runtime.driver import driver

from pytriton.passes.analysis.traits import Described, Edge
from pytriton.pipeline import Translation
from pytriton.runtime.launch.device import Direct, Grid, style_here

__all__ = ["Fits", "describes", "fits_of", "guarded"]

Fits = Callable[[Grid, Sequence[Any]], bool]

_HOPPER: Final = 90
MAX_INT: Final = 2**31 - 1
_BYTES: Final = 16  # what addresses and the distances of rows must be multiples of
MAX_PROGRAMS: Final = 1 << 16  # of one launch: each takes some hundred bytes of memory


def describes() -> bool:
    """Whether descriptors are worth a try on the current GPU: it copies tiles by itself."""
    target = driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= _HOPPER and style_here() is not None


def fits_of(translation: Translation) -> Fits | None:
    """Whether a launch with this grid and these values reads what the text says; None if all do."""
    if not translation.traits.described:
        return None
    places = {parameter.name: at for at, parameter in enumerate(translation.parameters)}
    tests = tuple(_test(described, places) for described in translation.traits.described)

    def fits(grid: Grid, values: Sequence[Any]) -> bool:
        x, y, z = grid
        if x * y * z > MAX_PROGRAMS:
            return False
        return all(test(grid, values) for test in tests)

    return fits


def _test(described: Described, places: Mapping[str, int]) -> Fits:
    base, stride = places[described.base], places[described.stride]
    multiple = _BYTES // described.element_bytes
    (a, b, c), row = _last(described.rows)
    (d, e, f), column = _last(described.columns)
    down = described.step if described.down else 0
    size = (described.rows if described.down else described.columns).size
    number = described.stop if isinstance(described.stop, int) else 0
    stop = None if isinstance(described.stop, int) else places[described.stop]

    def holds(grid: Grid, values: Sequence[Any]) -> bool:
        x, y, z = grid
        address, distance = values[base], values[stride]
        return (
            address > 0
            and not address % _BYTES
            and 0 < distance <= MAX_INT
            and not distance % multiple
            and (a * x + b * y + c * z + row) * distance + d * x + e * y + f * z + column <= MAX_INT
            and (number if stop is None else values[stop]) + size <= MAX_INT
            and down * distance <= MAX_INT
        )

    return holds


def _last(edge: Edge) -> tuple[tuple[int, int, int], int]:
    """The last index of a tile before the loop moves it: so much of each size of the grid, and a number."""
    return edge.ids, edge.first + edge.size - 1 - sum(edge.ids)


def guarded(
    direct: Direct, count: int, fits: Fits, otherwise: Callable[[Grid, Sequence[Any]], None]
) -> Direct:
    """The C function of a kernel with so many parameters, for launches that fit; others go to ``otherwise``."""
    launch, style = direct.launch, direct.style

    def launched(*given: Any) -> None:
        grid = given[:3]
        values = given[13 : 13 + count] if style == "flat" else given[15]
        if fits(grid, values):
            launch(*given)
        else:
            otherwise(grid, values)

    return Direct(style, launched, direct.handles, direct.extra)
