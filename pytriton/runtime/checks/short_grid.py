"""A grid that was rounded down: the last block of an output has no program.

Nothing of this is outside any tensor, so no other check sees it. It is told of only where nothing else is likely:
the programs fill an output from its start without a gap, what is left is the end of a contiguous tensor and shorter
than one block, and no argument says that it is left on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from pytriton.errors import Diagnostic, counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Extent, Memory
from pytriton.runtime.errors import warn

__all__ = ["tell_of_short_grid"]

Grid = tuple[int, int, int]


def tell_of_short_grid(sites: Sequence[Site], last: Mapping[int, int], memory: Memory, grid: Grid) -> None:
    """Warn once a place. ``last``: by number of a site, the highest address that it was at."""
    if math.prod(grid) == 1:
        return
    for extent in memory.extents.values():
        stores = [
            number
            for number in last
            if sites[number].kind != "load" and extent.parameter.name in (sites[number].roots or ())
        ]
        if not stores:
            continue
        site = sites[max(stores, key=last.__getitem__)]
        left = _left(site, max(last[number] for number in stores), extent, memory, math.prod(grid))
        place = "short", site.span.source.name, site.span.start
        if left and place not in memory.checks.told:
            memory.checks.told.add(place)
            warn(_diagnostic(site, left, extent, memory, grid).render())


def _left(site: Site, last: int, extent: Extent, memory: Memory, programs: int) -> int:
    """How many elements the programs leave, 0 where that may be meant."""
    block, tensor = math.prod(site.shape), extent.tensor
    if tensor is None or not site.shape or len(site.roots or ()) != 1 or not tensor.is_contiguous():
        return 0
    filled = programs * block
    if last != extent.start + (filled - 1) * site.width or filled in memory.numbers.values():
        return 0
    left = tensor.numel() - filled
    return left if 0 < left < block else 0


def _diagnostic(site: Site, left: int, extent: Extent, memory: Memory, grid: Grid) -> Diagnostic:
    name, size = extent.parameter.name, extent.tensor.numel()  # type: ignore[union-attr]
    block = math.prod(site.shape)
    last = (
        f"the last {left} of its {size} elements are" if left > 1 else f"the last of its {size} elements is"
    )
    named = next((key for key, value in memory.numbers.items() if value == size), str(size))
    mask = "" if site.masked else f", and mask the block that is then not full: *?(i < {named})(p + i)"
    return Diagnostic(
        "warning",
        "TC556",
        f"no program stores to the end of '{name}': {last} left as before",
        site.span,
        (f"a grid of {grid} with blocks of {block} covers {counted(size - left, 'element')}",),
        f"round the grid up, pytriton.cdiv({size}, {block}){mask}",
    )
