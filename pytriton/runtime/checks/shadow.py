"""Who touched which memory, and whether in an order: the shadow of a launch whose programs run one after another.

Accesses of two programs to one place, one of them a plain write, must be ordered by atomics. An atomic takes over
what is known at its address from the atomics before it there, and leaves there what its own program knows: so each
program has a *clock*, which counts its atomics, and knows of every other program up to which count its accesses
came before (a vector clock; C. Fidge 1988, F. Mattern 1988). Two accesses without an order are a race, whichever of
them ran first.

Memory is kept in *units*, as small as the smallest element. Of each unit the last write, the last atomic and two
reads are kept, as numbers of *events*: one execution of one access by one program.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy
import torch

from pytriton.compat.torch_names import version_of
from pytriton.errors import Diagnostic, counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.diagnostics import Program, named
from pytriton.runtime.checks.memory import merged
from pytriton.runtime.errors import warn_once
from pytriton.runtime.launch.extents import Memory, Range

AccessKind = Literal["load", "store", "atomic"]

_PAGE: Final = 4096


@dataclass(frozen=True, slots=True)
class Event:
    """One execution of a site by a program, which had the clock."""

    program: int
    clock: int
    site: int
    kind: AccessKind


@dataclass(frozen=True, slots=True)
class Clash:
    """Two events that touch the same memory in no order, and at which of the addresses given."""

    before: Event
    after: Event
    places: Any


class AccessShadow:
    """The shadow of one launch of so many programs. ``ranges`` are the memory it may reach, as far as is known."""

    def __init__(self, ranges: Sequence[Range], unit: int, programs: int) -> None:
        self._unit = unit
        self._lows: list[int] = []
        self._ends: list[int] = []
        self._firsts: list[int] = []  # of each range the number of its first unit
        self._size = 0
        self._last = {
            name: numpy.zeros(0, numpy.int32) for name in ("store", "atomic", "load", "load2", "left")
        }
        self._events = [Event(0, 0, -1, "load")]  # 0: none, before all others
        self._left: list[Any] = [None]  # what was known at the atomics
        self._program = -1
        self._knows = numpy.zeros(programs, numpy.int32)
        self.atomics = False
        for low, end in merged(ranges):
            self._add(low, end)

    def touched(self, program: int, site: int, kind: AccessKind, addresses: Any, width: int) -> list[Clash]:
        """Note an access to elements of so many bytes; whom of other programs it meets in no order."""
        if not addresses.size:
            return []
        if program != self._program:
            self._program = program
            self._knows = numpy.zeros_like(self._knows)
            self._knows[program] = 1
        units = self._units(addresses, width)
        if kind == "atomic":
            self._take_over(units)
        event = Event(program, int(self._knows[program]), site, kind)
        number = len(self._events)
        self._events.append(event)
        others = {"load": ("store", "atomic"), "store": ("store", "atomic", "load", "load2")}
        parts = max(1, width // self._unit)
        clashes = [
            clash
            for name in others.get(kind, ("store", "load", "load2"))
            for clash in self._clashes(self._last[name][units], event, parts)
        ]
        self._keep(kind, units, number)
        if kind == "atomic":
            self._leave(units)
        return clashes

    # Order.

    def _unordered(self, numbers: Any) -> Any:
        """Which of the events are of other programs, and not ordered before this one."""
        distinct, places = numpy.unique(numbers, return_inverse=True)
        events = [self._events[number] for number in distinct.tolist()]
        unordered = [
            event.program != self._program and event.clock > self._knows[event.program] for event in events
        ]
        return numpy.array(unordered, bool)[places]

    def _clashes(self, numbers: Any, event: Event, parts: int) -> list[Clash]:
        unordered = self._unordered(numbers)
        if not unordered.any():
            return []
        clashes: list[Clash] = []
        by_site: dict[int, list[int]] = {}
        for number in numpy.unique(numbers[unordered]).tolist():
            by_site.setdefault(self._events[number].site, []).append(number)
        for others in by_site.values():
            units = numpy.flatnonzero(unordered & numpy.isin(numbers, others))
            before = self._events[int(numbers[units[0]])]
            clashes.append(Clash(before, event, numpy.unique(units // parts)))
        return clashes

    def _keep(self, kind: AccessKind, units: Any, number: int) -> None:
        if kind != "load":
            self._last[kind][units] = number
            return
        first, second = self._last["load"], self._last["load2"]
        previous = first[units]
        free = (previous == 0) | ~self._unordered(previous)
        first[units[free]] = number
        second[units[~free]] = number

    def _take_over(self, units: Any) -> None:
        self.atomics = True
        for number in numpy.unique(self._last["left"][units]).tolist():
            if number:
                numpy.maximum(self._knows, self._left[number], out=self._knows)

    def _leave(self, units: Any) -> None:
        self._last["left"][units] = len(self._left)
        self._left.append(self._knows.copy())
        self._knows[self._program] += 1

    # Places.

    def _units(self, addresses: Any, width: int) -> Any:
        """The numbers of all units of the elements, element after element."""
        addresses = addresses.reshape(-1).astype(numpy.int64)
        at = self._ranges_of(addresses)
        first = (addresses - numpy.array(self._lows)[at]) // self._unit + numpy.array(self._firsts)[at]
        parts = max(1, width // self._unit)
        return first if parts == 1 else (first[:, None] + numpy.arange(parts)).reshape(-1)

    def _ranges_of(self, addresses: Any) -> Any:
        """The range of each address; memory outside all of them gets one when it is reached."""
        while True:
            at = numpy.searchsorted(numpy.array(self._lows, numpy.int64), addresses, "right") - 1
            ends = numpy.array([*self._ends, 0], numpy.int64)[at]
            unknown = addresses[(at < 0) | (addresses >= ends)]
            if not unknown.size:
                return at
            page = int(unknown[0]) // _PAGE * _PAGE
            place = bisect_right(self._lows, int(unknown[0]))
            low = max(page, self._ends[place - 1]) if place else page
            end = min(page + _PAGE, self._lows[place]) if place < len(self._lows) else page + _PAGE
            self._add(low, end)

    def _add(self, low: int, end: int) -> None:
        place = bisect_right(self._lows, low)
        self._lows.insert(place, low)
        self._ends.insert(place, end)
        self._firsts.insert(place, self._size)
        self._size += -((low - end) // self._unit) + 8  # an element may begin in the last unit
        for name, column in self._last.items():
            self._last[name] = numpy.concatenate([column, numpy.zeros(self._size - len(column), numpy.int32)])


# What the programs of a launch on the CPU store: elements that two of them set, and those that none of them sets.
#
# Input: each plain store, before it is made. Output: a warning for each store that replaces the value of another
# program by a different one (TC557), and a note for each output most of whose elements were not stored (TC558).
#
# Only what is certain counts. Stores go through one parameter. A kernel with atomics, which may order its
# programs, has no conflicts here (``check_races`` decides there). An output counts as unfinished only if the
# integer arguments have its size, or if there are none, as several launches may fill one tensor; not if the
# launch also loads it, if an argument is the number of stored elements, if offsets were loaded from memory, or if
# the tensor was changed before.


@dataclass(slots=True)
class Conflict:
    """Values of two programs for one element: the first pair, and in how many elements a store had one."""

    programs: tuple[Program, Program]
    values: tuple[str, str]
    address: int
    count: int = 0


@dataclass(slots=True)
class StoreLog:
    """By parameter, the program that stored each element of its storage last; 0 for none."""

    conflicts: dict[int, Conflict] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # of elements, by parameter
    _owners: dict[tuple[int, int], Any] = field(default_factory=dict)
    _programs: dict[Program, int] = field(default_factory=dict)

    def store(self, site: Site, addresses: Any, program: Program, memory: Memory) -> Any:
        """Record a store; returns the other programs that stored these elements last, as numbers, or None."""
        extent = memory.extents[site.roots[0]] if site.roots and len(site.roots) == 1 else None
        if extent is None or extent.tensor is None:
            return None
        key = extent.low, site.width
        if key not in self._owners:
            self._owners[key] = numpy.zeros(1 + (extent.end - extent.low) // site.width, numpy.int32)
        owners, at = self._owners[key], (addresses - numpy.uint64(extent.low)) // numpy.uint64(site.width)
        before, number = owners[at], self._programs.setdefault(program, len(self._programs) + 1)
        owners[at] = number
        name, overwritten = extent.parameter.name, int(numpy.count_nonzero(before))
        self.counts[name] = self.counts.get(name, 0) + before.size - overwritten
        return numpy.where(before == number, 0, before) if overwritten else None

    def compare(
        self, number: int, owners: Any, old: Any, new: Any, addresses: Any, program: Program, width: int
    ) -> None:
        """Record the elements whose values differ; ``old`` is in memory, ``owners`` as ``store`` returned them.

        Rounding does not count: tiles that overlap may compute one element in two ways.
        """
        size = numpy.abs(new[numpy.isfinite(new)]).max(initial=0)
        unlike = numpy.flatnonzero((owners != 0) & differ(old, new, width, size))
        if not unlike.size:
            return
        if number not in self.conflicts:
            at = unlike[0]
            other = list(self._programs)[owners[at] - 1]
            values = str(old[at]), str(new[at])
            self.conflicts[number] = Conflict((other, program), values, int(addresses[at]))
        self.conflicts[number].count += unlike.size


def differ(old: Any, new: Any, width: int, largest: float) -> Any:
    """Which values of so many bytes differ by more than rounding of the largest, as truth values."""
    unlike = new != old
    if new.dtype.kind == "f":
        near = 0.03 if width == 2 else 1e-4
        unlike &= ~numpy.isclose(new, old, near, near * largest, equal_nan=True)
    return unlike


def tell_of_written(
    written: StoreLog, sites: Sequence[Site], last: Mapping[int, int], memory: Memory, grid: Program
) -> None:
    """Warn once per place of conflicts, and once per output that is mostly not stored."""
    for number, conflict in written.conflicts.items():
        site = sites[number]
        first, second = conflict.programs
        place = named(conflict.address, site.width, site.roots or (), memory)
        values = " and ".join(conflict.values)
        message = f"programs {first} and {second} store different values to {place}: {values}"
        notes = (f"in a grid of {grid}; {counted(conflict.count, 'such element')}",)
        help_ = (
            "let one program store each element, or add with atomic_add; kernel.check_races finds all races"
        )
        diagnostic = Diagnostic("warning", "TC557", message, site.span, notes, help_)
        warn_once(diagnostic, ("conflict", site.span.source.name, site.span.start), memory.checks.warned)
    for name in written.counts if memory.checks.outputs else ():
        store = _unfinished(name, written.counts[name], sites, last, memory)
        if store is not None:
            size = memory.extents[name].tensor.numel()  # type: ignore[union-attr]
            message = (
                f"most of '{name}' was not stored: only {written.counts[name]} of its {size} elements were"
            )
            help_ = (
                "look at the grid, the offsets and the mask; pass a view, as in y[:n], where that is meant"
            )
            diagnostic = Diagnostic("note", "TC558", message, store.span, (f"in a grid of {grid}",), help_)
            warn_once(diagnostic, ("left", name), memory.checks.warned)


def _unfinished(
    name: str, count: int, sites: Sequence[Site], last: Mapping[int, int], memory: Memory
) -> Site | None:
    """A store to an output of which only ``count`` elements were stored, although the launch has its size."""
    reaching = {number: site for number, site in enumerate(sites) if name in (site.roots or (name,))}
    tensor, numbers = memory.extents[name].tensor, {*memory.numbers.values()}
    stores = [number for number in reaching if number in last]
    plain = all(site.kind == "store" and site.roots and not site.gathered for site in reaching.values())
    if tensor is None or not plain or 2 * count >= tensor.numel() or _is_older(tensor):
        return None
    sized = tensor.numel() in numbers or numbers >= {*tensor.shape} - {1}
    if numbers:
        return sites[stores[-1]] if sized and count not in numbers else None
    return sites[stores[-1]] if all(sites[number].shape for number in stores) else None


def _is_older(tensor: torch.Tensor) -> bool:
    """Whether it was changed in place before this launch, which may have counted as a change already."""
    return not tensor.is_inference() and version_of(tensor) > 1
