"""Barriers, judged without a GPU: do the threads of one program meet each other's memory without one in between?

Triton spreads the elements of a block over threads, and nothing but a barrier orders what they do (language.md,
section 8). The interpreter runs them in order, so a missing barrier changes nothing there. ``Threads`` looks at
each access instead: element i of a block of some shape belongs to one thread. Two accesses of one byte since the
last barrier, one of them a store, by what are surely two threads, are a ``Meeting``. That is lenient: elements of
small blocks and scalars are loaded by many threads, which only a GPU shows. Atomics meet no atomics, and one of a
scalar meets no load: its operand waits for what it was summed from.

Locks order the memory beside them (language.md, section 6): ``atomic_xchg`` gives it away, so a barrier must lie
behind what other threads wrote; after ``atomic_cas`` there must be one before anything but an atomic of a scalar.
(Loads before ``atomic_xchg`` are let pass: those of its own operand need no barrier, and look like others here.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.oracle.values import Array

__all__ = ["Meeting", "Threads"]

MANY = -2  # more than one thread
FIRST = 0
ATOMICS = ("atomic", "cas", "xchg")


class Meeting(AssertionError):
    """Two threads of a program meet in memory, and no barrier lies between them."""


class Threads:
    """What the threads of one launch did since the last barrier; ``buffers`` as (start, stop) addresses."""

    def __init__(self, buffers: Sequence[tuple[int, int]]) -> None:
        self.starts = np.array([start for start, _ in buffers], np.int64)
        sizes = [stop - start for start, stop in buffers]
        self.places = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        total = int(self.places[-1])
        self.epoch, self.program = 1, None
        self.wrote, self.read = np.zeros(total, np.int64), np.zeros(total, np.int64)  # the epoch of the last
        self.writer, self.reader = np.zeros(total, np.int64), np.zeros(total, np.int64)
        self.atomically = np.zeros(total, bool)  # the last write
        self.shapes: dict[tuple[int, ...], int] = {}
        self.others_wrote = self.acquired = False

    def barrier(self) -> None:
        self.epoch += 1
        self.others_wrote = self.acquired = False

    def access(
        self, what: str, addresses: Array, mask: Array, width: int, program: object, *, write: bool
    ) -> None:
        """One load, store or atomic (``xchg``, ``cas`` or another) of a block or a scalar."""
        if program != self.program:
            self.program = program
            self.barrier()
        if not len(self.starts):
            return
        shape = np.shape(addresses)
        scalar = int(np.prod(shape)) == 1
        if scalar:
            thread = np.array([FIRST])
        else:
            number = self.shapes.setdefault(shape, len(self.shapes) + 1)
            thread = number * 1_000_000 + np.arange(int(np.prod(shape)))
        active = np.broadcast_to(np.asarray(mask).astype(bool), shape).reshape(-1)
        flat, thread = np.asarray(addresses).reshape(-1)[active].astype(np.int64), thread[active]
        if not flat.size:
            return
        self._locks(what, scalar=scalar)
        buffer = np.searchsorted(self.starts[self._order()], flat, side="right") - 1
        buffer = self._order()[np.maximum(buffer, 0)]
        offset = flat - self.starts[buffer] + self.places[buffer]
        inside = (offset >= self.places[buffer]) & (offset + width <= self.places[buffer + 1])
        offset, thread = offset[inside], thread[inside]
        every = (offset[:, None] + np.arange(width)).reshape(-1)
        who = np.repeat(thread, width)
        atomic = what in ATOMICS
        self._meet(what, every, who, self.wrote, self.writer, self.atomically[every] if atomic else None)
        if write:
            if not (atomic and scalar):
                self._meet(what, every, who, self.read, self.reader)
            self.wrote[every], self.writer[every], self.atomically[every] = self.epoch, who, atomic
            return
        twice = np.unique(every).size != every.size
        others = (self.read[every] == self.epoch) & (self.reader[every] != who)
        self.read[every], self.reader[every] = self.epoch, np.where(others, MANY, who)
        if twice:  # several threads load one element
            values, counts = np.unique(every, return_counts=True)
            self.reader[values[counts > 1]] = MANY

    def _order(self) -> Array:
        return np.argsort(self.starts)

    def _locks(self, what: str, *, scalar: bool) -> None:
        """What a lock orders beside the memory that it is."""
        others = not scalar or what == "load"  # all threads load a scalar
        if what == "xchg" and self.others_wrote:
            raise Meeting("the emitted module's xchg gives away what other threads wrote, without a barrier")
        if self.acquired and (what not in ATOMICS or others):
            raise Meeting(f"the emitted module's {what} comes before all know of a lock, without a barrier")
        self.others_wrote |= not scalar and what != "load"
        self.acquired |= what == "cas"

    def _meet(
        self, what: str, every: Array, who: Array, when: Array, whose: Array, fine: Array | None = None
    ) -> None:
        met = (when[every] == self.epoch) & (whose[every] != who)
        if fine is not None:
            met &= ~fine
        if met.any():
            raise Meeting(f"the emitted module's {what} meets what another thread did, without a barrier")
