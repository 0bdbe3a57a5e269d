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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy

from pytriton.runtime.checks.memory import Range, merged

__all__ = ["Clash", "Event", "Kind", "Shadow"]

Kind = Literal["load", "store", "atomic"]

_PAGE: Final = 4096


@dataclass(frozen=True, slots=True)
class Event:
    """One execution of a site by a program, which had the clock."""

    program: int
    clock: int
    site: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Clash:
    """Two events that touch the same memory in no order, and at which of the addresses given."""

    before: Event
    after: Event
    places: Any


class Shadow:
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
        self._events = [Event(-1, 0, -1, "load")]  # 0: none
        self._programs, self._clocks = _Column(), _Column()  # of the events
        self._left: list[Any] = [None]  # what was known at the atomics
        self._program = -1
        self._knows = numpy.zeros(programs, numpy.int32)
        self.atomics = False
        for low, end in merged(ranges):
            self._add(low, end)

    def touched(self, program: int, site: int, kind: Kind, addresses: Any, width: int) -> list[Clash]:
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
        self._programs.append(program)
        self._clocks.append(event.clock)
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
        """Which of the events are of other programs, and not known to have come before."""
        programs = self._programs.of(numbers)
        return (
            (programs != self._program) & (self._clocks.of(numbers) > self._knows[programs]) & (numbers > 0)
        )

    def _clashes(self, numbers: Any, event: Event, parts: int) -> list[Clash]:
        unordered = self._unordered(numbers)
        if not unordered.any():
            return []
        found: list[Clash] = []
        by_site: dict[int, list[int]] = {}
        for number in numpy.unique(numbers[unordered]).tolist():
            by_site.setdefault(self._events[number].site, []).append(number)
        for others in by_site.values():
            units = numpy.flatnonzero(unordered & numpy.isin(numbers, others))
            before = self._events[int(numbers[units[0]])]
            found.append(Clash(before, event, numpy.unique(units // parts)))
        return found

    def _keep(self, kind: Kind, units: Any, number: int) -> None:
        if kind != "load":
            self._last[kind][units] = number
            return
        first, second = self._last["load"], self._last["load2"]
        known = first[units]
        free = (known == 0) | ~self._unordered(known)
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
        """The range of each address; memory that nobody named gets one when it is reached."""
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


class _Column:
    """Numbers of the events, as an array that grows."""

    def __init__(self) -> None:
        self._array = numpy.zeros(1024, numpy.int32)
        self._count = 1

    def append(self, number: int) -> None:
        if self._count == len(self._array):
            self._array = numpy.concatenate([self._array, numpy.zeros_like(self._array)])
        self._array[self._count] = number
        self._count += 1

    def of(self, numbers: Any) -> Any:
        return self._array[numbers]
