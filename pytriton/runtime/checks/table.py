"""The table of a checked launch on a GPU: where accesses may go, and what was found of those that went elsewhere.

Words of 64 bits: sixteen that nobody reads, sixteen for each site, then the ranges. The words of a site are the
place of its first range, how many it has, how many elements were outside, and of the first of these its address,
its number in the block (row by row), the three program ids and whether all of its block were outside; then of all
of them the lowest and the highest address, and the lowest and the highest number of a program. A range is two
words: the lowest address, and how many bytes after it an element of this site may begin.
``templates/checked.py.j2`` is the other side.

The table of an inspector (passes/check/inspector.py) is smaller: a word for what it finds, and a range for each of
its bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy
import torch

from pytriton.passes.check.inspector import Inspection
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Memory, Range
from pytriton.runtime.checks.violation import Violation

__all__ = ["bounds", "filled", "forgotten", "found_in", "inspectable"]

_WORDS: Final = 16  # of a site
_LARGEST: Final = (1 << 63) - 1
_NOTHING_FOUND: Final = (*[0] * 7, *[_LARGEST, -_LARGEST] * 2, *[0] * 3)


def filled(
    sites: Sequence[Site], memory: Memory, known: Callable[[], Sequence[Range]] = lambda: ()
) -> list[int]:
    """The words before a launch.

    ``known`` gives the ranges that addresses and pointers from memory may reach beside the storages of the launch;
    it is asked if there are such pointers.
    """
    more = known() if any(map(memory.is_open, sites)) else ()
    heads = [0] * _WORDS
    ranges: list[int] = []
    first = _place(len(sites))
    for site in sites:
        starts = [
            (low, end - low - site.width + 1)
            for low, end in [*memory.ranges(site), *(more if memory.is_open(site) else ())]
            if end - low >= site.width
        ] or [(0, 0)]
        heads += [first + len(ranges), len(starts), *_NOTHING_FOUND]
        ranges += [word for start in starts for word in start]
    return heads + ranges


def inspectable(inspected: Inspection, sites: Sequence[Site], memory: Memory) -> bool:
    """Whether an inspector may judge a launch: it knows where all memory ends, and nobody writes what it reads."""
    extents = memory.extents
    if not inspected.inspected or any(memory.is_open(sites[number]) for number in inspected.inspected):
        return False
    read = [extents[name] for name in inspected.consulted]
    written = [extents[name] for name in inspected.written]
    return not any(
        other.is_open or (one.low < other.end and other.low < one.end) for one in read for other in written
    )


def bounds(inspected: Inspection, memory: Memory) -> list[int]:
    """The words of an inspector's table before a launch."""
    words = [0]
    for name, width in inspected.bounds:
        extent = memory.extents[name]
        words += [extent.low, max(0, extent.end - extent.low - width + 1)]
    return words


def found_in(words: Sequence[int], sites: Sequence[Site]) -> dict[int, Violation]:
    """What a launch left in its table, by site."""
    found: dict[int, Violation] = {}
    for number, site in enumerate(sites):
        _, _, count, address, place, x, y, z, whole, *ends = words[_place(number) : _place(number) + 13]
        if count:
            element = tuple(map(int, numpy.unravel_index(place, site.shape))) if site.shape else ()
            address, lowest, highest = (end % (1 << 64) for end in (address, *ends[:2]))
            several = ends[2] != ends[3]
            found[number] = Violation(
                *(site, count, None if several else 1, (x, y, z), element, address, lowest, highest),
                all_outside=bool(whole),
            )
    return found


def forgotten(words: torch.Tensor, sites: Sequence[Site]) -> None:
    """Make a table as if nothing had been found."""
    rows = words[_place(0) : _place(len(sites))].view(-1, _WORDS)
    rows[:, 2:] = torch.tensor(_NOTHING_FOUND, device=words.device)


def _place(number: int) -> int:
    """Where the words of a site begin."""
    return _WORDS * (1 + number)
