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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy
import torch

from pytriton.compat.torch_names import version_of
from pytriton.errors import Diagnostic, counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.diagnostics import Program, named
from pytriton.runtime.errors import warn_once
from pytriton.runtime.launch.extents import Memory

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
    """The shadow of one launch of so many programs; a ``unit`` has so many bytes."""

    def __init__(self, unit: int, programs: int) -> None:
        self._unit = unit
        self._pages: dict[int, int] = {}  # those that were reached, in order
        self._last = {
            name: numpy.zeros(0, numpy.int32) for name in ("store", "atomic", "load", "load2", "left")
        }
        self._events = [Event(0, 0, -1, "load")]  # 0: none, before all others
        self._left: list[Any] = [None]  # what was known at the atomics
        self._program = -1
        self._knows = numpy.zeros(programs, numpy.int32)
        self.atomics = False

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

    def _units(self, addresses: Any, width: int) -> Any:
        """The numbers of all units of the elements, element after element. A page that is reached gets its own."""
        parts = numpy.arange(0, width, self._unit)
        every = (addresses.reshape(-1, 1).astype(numpy.int64) + parts).reshape(-1)
        distinct, places = numpy.unique(every // _PAGE, return_inverse=True)
        pages = [self._pages.setdefault(page, len(self._pages)) for page in distinct.tolist()]
        count = _PAGE // self._unit
        needed = count * len(self._pages)
        for name, column in self._last.items():
            if needed > len(column):
                self._last[name] = numpy.concatenate([column, numpy.zeros(needed, numpy.int32)])
        return count * numpy.array(pages)[places] + every % _PAGE // self._unit


# What the programs of a launch on the CPU store: elements that two of them set, and those that none of them sets.
#
# Input: what C found (native/checks.py). Output: a warning for each store that replaces the value of another
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
    """What a launch stored: values that compete, by site, and how many elements, by parameter."""

    conflicts: dict[int, Conflict] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)


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
