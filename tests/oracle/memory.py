"""Global memory: buffers between guard zones, and who touched what in which order.

Every buffer of a launch lies in one arena of bytes at addresses that no other buffer is near. An access outside
all buffers, or one that is not aligned to its element, is undefined behaviour and raises ``Undefined``. Accesses
of different program instances to one byte, one of them a plain write, must be ordered by atomics (language.md,
section 8): that is checked with vector clocks, so a race is found whichever program happens to run first.
"""

from __future__ import annotations

import numpy as np

from pytriton.lang.tree.types import BFLOAT16, BOOL, ElementType, PointerType
from tests.oracle.arithmetic import INTERPRETER, binary, size_of
from tests.oracle.values import Array, Value, dtype_of

__all__ = ["NOWHERE", "Memory", "Undefined"]

GUARD = 4096  # bytes between buffers
BASE = 1 << 20  # no buffer lies near address 0
NOWHERE = 0  # an address of no buffer


class Undefined(Exception):
    """The program does what the language leaves undefined; the message says what and where."""


class Memory:
    """The bytes of one launch. ``buffers`` are NumPy arrays of any element type, copied in."""

    def __init__(self, buffers: list[Array], programs: int) -> None:
        self.starts: list[int] = []
        self.sizes = [buffer.nbytes for buffer in buffers]
        at = GUARD
        for size in self.sizes:
            self.starts.append(at)
            at += (size + GUARD + 511) // 512 * 512
        self.bytes = np.full(at, 0xA5, np.uint8)
        self.inside = np.zeros(at, bool)
        for start, buffer in zip(self.starts, buffers, strict=True):
            self.bytes[start : start + buffer.nbytes] = np.frombuffer(buffer.tobytes(), np.uint8)
            self.inside[start : start + buffer.nbytes] = True
        self.error: Array | None = None  # per byte: how far the float that starts here may stray
        self.clock = np.eye(programs, dtype=np.int64)  # row p: what program p knows of every other
        self.written_by = np.full(at, -1, np.int16)
        self.written_at = np.zeros(at, np.int64)
        self.read_at = np.zeros((programs, at), np.int64)
        self.atomic_at = np.zeros((programs, at), np.int64)
        self.released: dict[int, Array] = {}
        self.touched = np.zeros(at, bool)
        self.strayed = False  # a load reached outside every buffer

    def address(self, buffer: int, offset: int = 0) -> int:
        """The address of a byte of a buffer."""
        return BASE + self.starts[buffer] + offset

    def contents(self, buffer: int) -> tuple[Array, Array]:
        """The bytes of a buffer, and the error of each."""
        place = slice(self.starts[buffer], self.starts[buffer] + self.sizes[buffer])
        error = np.zeros(self.sizes[buffer]) if self.error is None else self.error[place]
        return self.bytes[place].copy(), error.copy()

    def used(self, buffer: int) -> tuple[int, int]:
        """The first byte of a buffer that was touched and the one behind the last; (0, 0) if none was."""
        place = self.touched[self.starts[buffer] : self.starts[buffer] + self.sizes[buffer]]
        where = np.flatnonzero(place)
        return (int(where[0]), int(where[-1]) + 1) if where.size else (0, 0)

    # ------------------------------------------------------------ accesses

    def _offsets(self, addresses: Array, element: ElementType, what: str) -> tuple[Array, Array]:
        """Offsets into the arena of the elements, and of all their bytes."""
        width = size_of(element)
        offsets = np.asarray(addresses, np.int64).reshape(-1) - BASE
        if (offsets % width != 0).any():
            raise Undefined(f"{what}: an address is not a multiple of {width}")
        every = (offsets[:, None] + np.arange(width)).reshape(-1)
        if not self._holds(every).all():
            raise Undefined(f"{what}: an address lies outside every buffer")
        self.touched[every] = True
        return offsets, every

    def _holds(self, offsets: Array) -> Array:
        """Which bytes of the arena lie in a buffer."""
        fits = (offsets >= 0) & (offsets < self.inside.size)
        return fits & self.inside[np.where(fits, offsets, 0)]

    def load(self, addresses: Array, element: ElementType, program: int) -> Value:
        """The elements at these addresses, flat.

        Those outside every buffer are bad, not an error yet: the classic loop loads past the end and throws
        the value away (docs/language.md, Statements).
        """
        addresses = np.asarray(addresses, np.int64).reshape(-1)
        width = size_of(element)
        last = addresses - BASE + (width - 1)
        fits = self._holds(addresses - BASE) & self._holds(last)
        if not fits.all():
            self.strayed = True
            found = self.load(addresses[fits], element, program)
            bad = np.ones(addresses.shape, bool)
            bad[fits] = False if found.bad is None else found.bad
            data, error = np.zeros(addresses.shape, found.data.dtype), np.zeros(addresses.shape)
            data[fits], error[fits] = found.data, found.spread()
            return Value(data, bad, error)
        offsets, every = self._offsets(addresses, element, "load")
        self._order(every, program, "load", write=False)
        self.read_at[program, every] = self.clock[program, program]
        return self._fetch(offsets, element)

    def _fetch(self, offsets: Array, element: ElementType) -> Value:
        width = size_of(element)
        raw = self.bytes[offsets[:, None] + np.arange(width)].reshape(-1)
        if element == BFLOAT16:
            data = (raw.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            data = raw.view(np.int8 if element == BOOL else dtype_of(element))
        if element == BOOL:
            if ((data != 0) & (data != 1)).any():
                raise Undefined("load: a bool that is neither 0 nor 1")
            data = data != 0
        if self.error is None:
            return Value(data)
        error = self.error[offsets[:, None] + np.arange(width)].max(axis=1)
        if isinstance(element, PointerType) or not element.is_float:
            return Value(data, error > 0)
        return Value(data, None, error if error.any() else None)

    def store(self, addresses: Array, value: Value, element: ElementType, program: int) -> None:
        """The flat elements to these addresses; no two different values to one of them."""
        offsets, every = self._offsets(addresses, element, "store")
        self._order(every, program, "store", write=True)
        if np.unique(offsets).size != offsets.size:
            self._same_twice(offsets, value)
        self.written_by[every] = program
        self.written_at[every] = self.clock[program, program]
        self._put(offsets, value, element)

    def _put(self, offsets: Array, value: Value, element: ElementType) -> None:
        width = size_of(element)
        data = np.ascontiguousarray(value.data)
        if element == BFLOAT16:
            data = (data.view(np.uint32) >> 16).astype(np.uint16)
        every = offsets[:, None] + np.arange(width)
        self.bytes[every] = data.view(np.uint8).reshape(-1, width)
        if value.error is not None and self.error is None:
            self.error = np.zeros(self.bytes.size)
        if self.error is not None:
            self.error[every] = value.spread()[:, None]

    def _same_twice(self, offsets: Array, value: Value) -> None:
        order = np.argsort(offsets, kind="stable")
        sorted_offsets, sorted_data = offsets[order], value.data[order]
        twice = sorted_offsets[1:] == sorted_offsets[:-1]
        unlike = sorted_data[1:] != sorted_data[:-1]
        if (twice & unlike).any() or (
            value.error is not None and (twice & (value.error[order][1:] > 0)).any()
        ):
            raise Undefined("store: different values to one address, in no order")

    def atomic(
        self,
        operation: str,
        addresses: Array,
        value: Value,
        compare: Value | None,
        element: ElementType,
        program: int,
    ) -> Value:
        """The old elements; every address is an acquire and a release. Elements are taken one by one."""
        offsets, every = self._offsets(addresses, element, f"atomic {operation}")
        for offset in map(int, offsets):
            if offset in self.released:
                np.maximum(self.clock[program], self.released[offset], out=self.clock[program])
        self._order(every, program, f"atomic {operation}", write=True, atomic=True)
        self.atomic_at[program, every] = self.clock[program, program]
        old = self._exchange(operation, offsets, value, compare, element)
        for offset in map(int, offsets):
            self.released[offset] = self.clock[program].copy()
        self.clock[program, program] += 1
        return old

    def _exchange(
        self, operation: str, offsets: Array, value: Value, compare: Value | None, element: ElementType
    ) -> Value:
        if np.unique(offsets).size == offsets.size:
            groups = [np.arange(offsets.size)] if offsets.size else []
        else:
            groups = [np.array([index]) for index in range(offsets.size)]
        parts: list[Value] = []
        for group in groups:
            old = self._fetch(offsets[group], element)
            new = value.mapped(lambda array, group=group: array[group])
            if operation == "add":
                new = binary("+", old, new, element, element, INTERPRETER)
                if isinstance(element, PointerType):
                    raise Undefined("atomic add of pointers")
            elif operation == "cas":
                assert compare is not None
                equal = old.data == compare.data[group]
                new = Value(np.where(equal, new.data, old.data))
            self._put(offsets[group], new, element)
            parts.append(old)
        if not parts:
            return Value(value.data)
        if len(parts) == 1:
            return parts[0]
        # several elements on one address: their order is unspecified
        shared = np.array([np.count_nonzero(offsets == offset) > 1 for offset in offsets])
        return Value(np.concatenate([part.data for part in parts]), shared)

    # ------------------------------------------------------------ order

    def _order(self, every: Array, program: int, what: str, *, write: bool, atomic: bool = False) -> None:
        """Raise where another program's access is not known to have come before."""
        if self.clock.shape[0] == 1:
            return
        knows = self.clock[program]
        writer = self.written_by[every]
        other = (writer >= 0) & (writer != program)
        if (other & (self.written_at[every] > knows[np.maximum(writer, 0)])).any():
            raise Undefined(f"{what}: races with another program's store")
        marks = []
        if not atomic:
            marks.append(self.atomic_at)
        if write:
            marks.append(self.read_at)
        for mark in marks:
            unknown = mark[:, every] > knows[:, None]
            unknown[program] = False
            if unknown.any():
                raise Undefined(f"{what}: races with another program's access")
