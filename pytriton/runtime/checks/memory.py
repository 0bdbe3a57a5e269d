"""Checks of one launch: memory of the process, accesses out of bounds, and the table of a checked launch on a GPU.

What its pointers may reach, by parameter, is ``launch/extents.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Final

import numpy
import torch

from pytriton.errors import counted
from pytriton.passes.check.inspector import Inspection
from pytriton.passes.check.sites import Site
from pytriton.runtime.launch.extents import Extent, Memory, Range


def merged(ranges: Iterable[Range]) -> list[Range]:
    """The ranges in rising order, those that touch made one."""
    result: list[Range] = []
    for low, end in sorted(ranges):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((low, end))
    return result


def starts(site: Site, memory: Memory, more: Callable[[], Sequence[Range]]) -> list[tuple[int, int]]:
    """Where the elements of an access may start: an address, and how many bytes after it. ``more``: the memory that
    addresses and pointers from memory may reach besides the storages of the launch."""
    ranges = [*memory.ranges(site), *(more() if memory.is_open(site) else ())]
    return [(low, end - low - site.width + 1) for low, end in ranges if end - low >= site.width]


def starts_on_cpu(sites: Sequence[Site], memory: Memory) -> list[list[tuple[int, int]]]:
    """The same for each access on the CPU, where all pages may be reached that the process has mapped by now."""
    pages = cache(lambda permission: merged(_mapped(permission)))
    return [starts(site, memory, partial(pages, "r" if site.kind == "load" else "w")) for site in sites]


def _mapped(permission: str) -> Iterator[Range]:
    """In rising order; nothing where the system does not say."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as lines:
            for line in lines:
                span, permissions, *_ = line.split(maxsplit=2)
                if permission in permissions:
                    low, end = span.split("-")
                    yield int(low, 16), int(end, 16)
    except OSError:
        return


def blocks() -> Iterator[tuple[int, int, int, str]]:
    """Device, address, bytes and state of each block of GPU memory that torch's allocator has."""
    for segment in torch.cuda.memory_snapshot():  # type: ignore[no-untyped-call]
        address = segment["address"]
        for block in segment["blocks"]:
            yield segment["device"], address, block["size"], block["state"]
            address += block["size"]


def known_blocks(device: int) -> list[Range]:
    """Those that it gave out on a device, in rising order, those that touch made one; others say nothing."""
    rows = (
        (at, at + size) for on, at, size, state in blocks() if on == device and state == "active_allocated"
    )
    return merged(rows)


# What was found of one site of a launch: the accesses that were outside, counted, and the first of them.


@dataclass(slots=True)
class Violation:
    """``count`` elements in ``programs`` programs (None for several, uncounted) were outside.

    Of the first are known its ``program``, its ``element`` (the index in the block, () of a scalar) and its
    ``address``; ``lowest`` and ``highest`` are of all. ``all_outside``: no element of the first block was inside.
    """

    site: Site
    count: int
    programs: int | None
    program: tuple[int, int, int]
    element: tuple[int, ...]
    address: int
    lowest: int
    highest: int
    all_outside: bool = False
    last: tuple[int, int, int] | None = None  # the program in which one was noted last


def indices_of(place: int, shape: tuple[int, ...], site: Site) -> tuple[int, ...]:
    """The indices of an element of a block; none of a scalar."""
    return tuple(map(int, numpy.unravel_index(place, shape))) if site.shape else ()


@dataclass(frozen=True)
class Outside:
    """A violation beside the launch in which it was found. Indices and distances are in elements of the site."""

    violation: Violation
    memory: Memory
    grid: tuple[int, int, int]

    @property
    def site(self) -> Site:
        return self.violation.site

    @cached_property
    def extent(self) -> Extent | None:
        """The extent that the pointer came from; of several, the nearest; None for a pointer from memory."""
        if not self.site.roots:
            return None
        extents = [self.memory.extents[name] for name in self.site.roots]
        present = [extent for extent in extents if extent.tensor is not None]
        return min(present or extents, key=self._gap)

    def _gap(self, extent: Extent) -> int:
        address = self.violation.address
        return max(extent.low - address, address - extent.end, 0)

    @property
    def tensor(self) -> torch.Tensor | None:
        return None if self.extent is None else self.extent.tensor

    @property
    def absent(self) -> str:
        """The argument passed for an absent tensor."""
        assert self.extent is not None
        at = [parameter.name for parameter in self.memory.parameters].index(self.extent.parameter.name)
        argument = self.memory.arguments[at]
        return "an empty tensor" if isinstance(argument, torch.Tensor) else repr(argument)

    def index_of(self, address: int) -> int:
        """The element at an address, counted from the first of the tensor.

        Addresses below 0 are large ones: a tensor may be less than the reach of an int above 0.
        """
        assert self.extent is not None
        distance = (address - self.extent.start + (1 << 63)) % (1 << 64) - (1 << 63)
        return distance // self.site.width

    @property
    def index(self) -> int:
        """Of the first access outside."""
        return self.index_of(self.violation.address)

    @property
    def highest(self) -> int:
        """The highest of all."""
        return self.index_of(self.violation.highest)

    @property
    def reachable(self) -> tuple[int, int]:
        """The first and the last element of the storage."""
        assert self.extent is not None
        width, extent = self.site.width, self.extent
        return -((extent.start - extent.low) // width), (extent.end - extent.start) // width - 1

    @property
    def distance(self) -> str:
        """How far outside the first access was."""
        first, last = self.reachable
        count, side = (
            (first - self.index, "before the start")
            if self.index < first
            else (self.index - last, "past the end")
        )
        return f"{counted(count, 'element')} {side}"


# The table of a checked launch on a GPU: the allowed ranges of accesses, and the violations.
#
# Words of 64 bits: sixteen that are not read, sixteen for each site, then the ranges. The words of a site are the
# place of its first range, how many it has, how many elements were outside, and of the first of these its
# address, its number in the block (row by row), the three program ids and whether all of its block were outside;
# then of all of them the lowest and the highest address, and the lowest and the highest number of a program. A
# range is two words: the lowest address, and how many bytes after it an element of this site may begin.
# ``templates/checked.py.j2`` is the other side.
#
# The table of an inspector (passes/check/inspector.py) is smaller: a word for what it finds, and a range for each
# of its bounds.


_WORDS: Final = 16  # of a site
_LARGEST: Final = (1 << 63) - 1
_NOTHING_FOUND: Final = (*[0] * 7, *[_LARGEST, -_LARGEST] * 2, *[0] * 3)


def filled(
    sites: Sequence[Site], memory: Memory, blocks: Callable[[], Sequence[Range]] = lambda: ()
) -> list[int]:
    """The words before a launch.

    ``blocks`` returns the ranges that addresses and pointers from memory may reach besides the storages of the
    launch; it is called only if there are such pointers.
    """
    more = cache(blocks)
    heads = [0] * _WORDS
    ranges: list[int] = []
    first = _place(len(sites))
    for site in sites:
        own = starts(site, memory, more) or [(0, 0)]
        heads += [first + len(ranges), len(own), *_NOTHING_FOUND]
        ranges += [word for start in own for word in start]
    return heads + ranges


def inspectable(inspected: Inspection, sites: Sequence[Site], memory: Memory) -> bool:
    """Whether an inspector can check a launch: the ends of all memory are known, and its reads are not written."""
    extents = memory.extents
    if not inspected.inspected or any(memory.is_open(sites[number]) for number in inspected.inspected):
        return False
    read = [extents[name] for name in inspected.consulted]
    written = [extents[name] for name in inspected.written]
    return not any(
        other.is_open or (extent.low < other.end and other.low < extent.end)
        for extent in read
        for other in written
    )


def bounds(inspected: Inspection, memory: Memory) -> list[int]:
    """The words of an inspector's table before a launch."""
    words = [0]
    for name, width in inspected.bounds:
        extent = memory.extents[name]
        words += [extent.low, max(0, extent.end - extent.low - width + 1)]
    return words


def found_in(words: Sequence[int], sites: Sequence[Site]) -> dict[int, Violation]:
    """The violations in the table of a launch, by site."""
    violations: dict[int, Violation] = {}
    for number, site in enumerate(sites):
        _, _, count, address, place, x, y, z, whole, *ends = words[_place(number) : _place(number) + 13]
        if count:
            element = indices_of(place, site.shape, site)
            address, lowest, highest = (end % (1 << 64) for end in (address, *ends[:2]))
            several = ends[2] != ends[3]
            violations[number] = Violation(
                *(site, count, None if several else 1, (x, y, z), element, address, lowest, highest),
                all_outside=bool(whole),
            )
    return violations


def _place(number: int) -> int:
    """Where the words of a site begin."""
    return _WORDS * (1 + number)
