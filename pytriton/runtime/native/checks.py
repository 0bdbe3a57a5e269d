"""The memory checks of a launch in C: what each thread is given, and what it found.

Input: the sites of checked code, and the memory of a launch. Output: for each thread a block of 64-bit words
(``struct checks`` of templates/native_library.c.j2); after the launch, violations and the highest addresses, as the
interpreter finds them (runtime/interpret/accesses.py), and what was written.

A thread runs its programs by rising number, so the first violation of a launch is that of the lowest program.
Values of two programs for one element are compared after the launch: rounding counts against the largest element of
the tensor. Of such elements the first ``MAX_CONFLICTS`` of a thread are known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy

from pytriton.lang.tree.types import ElementType, PointerType
from pytriton.passes.check.sites import Site
from pytriton.runtime.bfloat16 import floats_of
from pytriton.runtime.checks.diagnostics import program_of
from pytriton.runtime.checks.memory import Violation, indices_of, starts_on_cpu
from pytriton.runtime.checks.shadow import Conflict, StoreLog, differ
from pytriton.runtime.launch.extents import Extent, Memory

MAX_CONFLICTS: Final = 1024
MAX_OWNERS: Final = (
    1 << 30
) - 1  # programs that an owner's number can name; in larger grids nothing is recorded
_HEAD: Final = 5  # words before the sites
# The words of a site.
_LOW, _SPAN, _RANGES, _RANGE_COUNT = range(4)
_COUNT, _PROGRAMS, _FIRST, _PLACE, _BLOCK, _ADDRESS, _LOWEST, _HIGHEST = 4, 5, 7, 8, 9, 11, 12, 13
_LAST, _OWNERS, _OWNER_WORDS, _OWNERS_LOW, _WIDTH, _STORED, _COMPARES, _WORDS = range(14, 22)
_CONFLICT: Final = 6  # words of a conflict: site, program, other, address, before, after


class NativeChecks:
    """One launch of checked code: ``violations``, ``last`` and ``written`` after it."""

    def __init__(
        self,
        sites: Sequence[Site],
        elements: Sequence[ElementType | None],
        memory: Memory,
        grid: tuple[int, int, int],
    ) -> None:
        self.sites, self.memory = sites, memory
        self.violations: dict[int, Violation] = {}
        self.last: dict[int, int] = {}
        self.written = StoreLog()
        self._elements, self._grid = elements, grid
        self._threads: list[tuple[Any, Any]] = []
        self._owners: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._ranges = [numpy.array(own, numpy.uint64).reshape(-1, 2) for own in starts_on_cpu(sites, memory)]
        self._first = self._filled()

    def thread(self) -> int:
        """The address of a new thread's block."""
        words = self._first.copy()
        conflicts = numpy.zeros(MAX_CONFLICTS * _CONFLICT, numpy.uint64)
        words[2], words[3] = conflicts.ctypes.data, MAX_CONFLICTS
        self._threads.append((words, conflicts))
        return int(words.ctypes.data)

    # Before the launch.

    def _filled(self) -> Any:
        words = numpy.zeros(_HEAD + len(self.sites) * _WORDS, numpy.uint64)
        ordered = any(site.kind == "atomic" for site in self.sites)  # perhaps: the programs, by locks
        for number, site in enumerate(self.sites):
            row, ranges = self._row(words, number), self._ranges[number]
            if len(ranges):
                row[_LOW], row[_SPAN] = ranges[0]
                row[_RANGES], row[_RANGE_COUNT] = ranges.ctypes.data, len(ranges)
            row[_WIDTH], row[_COMPARES] = site.width, not ordered
            extent = self._stored_to(site)
            if extent is not None and math.prod(self._grid) < MAX_OWNERS:
                owners, owner_words = self._owned(extent, site.width)
                row[_OWNERS], row[_OWNER_WORDS] = owners.ctypes.data, owner_words.ctypes.data
                row[_OWNERS_LOW] = extent.low
        return words

    def _row(self, words: Any, number: int) -> Any:
        return words[_HEAD + number * _WORDS :][:_WORDS]

    def _stored_to(self, site: Site) -> Extent | None:
        """The tensor that a store is to, where it is certain."""
        if site.kind != "store" or not site.roots or len(site.roots) != 1:
            return None
        extent = self.memory.extents[site.roots[0]]
        return None if extent.tensor is None else extent

    def _owned(self, extent: Extent, width: int) -> tuple[Any, Any]:
        key = extent.low, width
        if key not in self._owners:
            count = (extent.end - extent.low) // width // 32 + 1
            # Of large arrays of zeros a system allocates what is touched.
            self._owners[key] = numpy.zeros(32 * count, numpy.int32), numpy.zeros(count, numpy.uint64)
        return self._owners[key]

    # After the launch.

    def collect(self) -> None:
        """Take together what the threads found."""
        for number, site in enumerate(self.sites):
            rows = [self._row(words, number) for words, _ in self._threads]
            last = max((int(row[_LAST]) for row in rows), default=0)
            if last:
                self.last[number] = last
            extent = self._stored_to(site)
            if last and extent is not None:
                name, stored = extent.parameter.name, sum(int(row[_STORED]) for row in rows)
                self.written.counts[name] = self.written.counts.get(name, 0) + stored
            rows = [row for row in rows if row[_COUNT]]
            if rows:
                self.violations[number] = self._violation(site, rows)
        self._collect_conflicts()

    def _violation(self, site: Site, rows: Sequence[Any]) -> Violation:
        first = min(rows, key=lambda row: int(row[_FIRST]))
        return Violation(
            site,
            count=sum(int(row[_COUNT]) for row in rows),
            programs=sum(int(row[_PROGRAMS]) for row in rows),
            program=program_of(int(first[_FIRST]), self._grid),
            element=indices_of(int(first[_PLACE]), site.shape, site),
            address=int(first[_ADDRESS]),
            lowest=min(int(row[_LOWEST]) for row in rows),
            highest=max(int(row[_HIGHEST]) for row in rows),
            all_outside=int(first[_BLOCK]) == math.prod(site.shape),
        )

    def _collect_conflicts(self) -> None:
        parts = [
            conflicts.reshape(-1, _CONFLICT)[: min(int(words[4]), MAX_CONFLICTS)]
            for words, conflicts in self._threads
        ]
        rows = numpy.concatenate(parts) if parts else numpy.zeros((0, _CONFLICT), numpy.uint64)
        if not rows.size:
            return
        for number in numpy.unique(rows[:, 0]).tolist():
            own = rows[rows[:, 0] == number]
            own = own[numpy.argsort(own[:, 1], kind="stable")]
            self._compare(int(number), own)

    def _compare(self, number: int, rows: Any) -> None:
        """Note the elements of a site whose values differ by more than rounding."""
        type_, site = self._elements[number], self.sites[number]
        old, new = (values_of(column, type_, site.width) for column in (rows[:, 4], rows[:, 5]))
        extent = self._stored_to(site)
        assert extent is not None and extent.tensor is not None
        finite = extent.tensor.detach()[extent.tensor.isfinite()]
        largest = float(finite.abs().max()) if finite.numel() else 0.0
        unlike = differ(old, new, site.width, largest)
        at = numpy.flatnonzero(unlike)
        if at.size:
            _, program, other, address, _, _ = map(int, rows[at[0]])
            programs = program_of(other, self._grid), program_of(program, self._grid)
            shown_values = str(old[at[0]]), str(new[at[0]])
            self.written.conflicts[number] = Conflict(programs, shown_values, address, int(at.size))


def values_of(bits: Any, type_: ElementType | None, width: int) -> Any:
    """Elements of a type from their bits."""
    if type_ is None or isinstance(type_, PointerType):
        return bits
    narrow = numpy.ascontiguousarray(bits.astype(f"u{width}"))
    if type_.word == "bfloat16":
        return floats_of(narrow)
    dtype = str(type_.torch).removeprefix("torch.")
    return narrow.view(numpy.dtype(dtype))
