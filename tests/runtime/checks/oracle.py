"""What a launch reaches outside its tensors, found by other means than the checks: no sites, no provenance.

The arguments are laid into one arena with wide gaps between them. The plain translation runs on the interpreter
while its loads, stores and atomics are looked at from below: what lies in no tensor of the launch is not made (a
load gives 0), and the line of the source that the running line of Python came from is noted.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy
import torch
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from pytriton.pipeline import Translation
from pytriton.runtime.interpret import waiting

__all__ = ["Arena", "TooLong", "watched"]

GAP = 1 << 20  # bytes between two tensors
MAX_ACCESSES = 20_000


class TooLong(Exception):
    """The mutant makes loops that do not end, or nearly so."""


class Arena:
    """Copies of the tensors among some arguments, each with a storage of its own and far from the others."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        tensors = [value for value in arguments if isinstance(value, torch.Tensor) and value.numel()]
        self._bytes = numpy.zeros(sum(_length(tensor) + GAP for tensor in tensors) + GAP, numpy.uint8)
        self.ranges: list[tuple[int, int]] = []
        self._next = GAP - self._bytes.ctypes.data % 64
        self.arguments = [
            self._placed(value) if isinstance(value, torch.Tensor) and value.numel() else value
            for value in arguments
        ]

    def _placed(self, tensor: torch.Tensor) -> torch.Tensor:
        start, length = self._next, _length(tensor)
        self._next = start + -(-length // 64) * 64 + GAP - 64
        memory = self._bytes[start : start + length]
        self.ranges.append((memory.ctypes.data, memory.ctypes.data + length))
        placed = torch.from_numpy(memory).view(tensor.dtype).as_strided(tensor.shape, tensor.stride())
        return placed.copy_(tensor)

    def gaps_are_empty(self) -> bool:
        """Whether the memory between the tensors is unchanged."""
        rest = self._bytes.copy()
        base = self._bytes.ctypes.data
        for low, end in self.ranges:
            rest[low - base : end - base] = 0
        return not rest.any()

    def contents(self) -> list[bytes]:
        """What the tensors hold."""
        base = self._bytes.ctypes.data
        return [self._bytes[low - base : end - base].tobytes() for low, end in self.ranges]


def _length(tensor: torch.Tensor) -> int:
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return (reach + 1) * tensor.itemsize


@contextmanager
def watched(arena: Arena, translation: Translation) -> Iterator[set[int]]:
    """While the body runs, accesses outside the tensors are not made; gives their lines in the source."""
    lines: set[int] = set()
    count = [0]
    plain = {name: getattr(InterpreterBuilder, name) for name in _WATCHED}
    still = waiting._is_still

    def inside(pointers: Any) -> Any:
        width = pointers.get_element_ty().primitive_bitwidth // 8 or 1
        reached = numpy.zeros(pointers.data.shape, bool)
        for low, end in arena.ranges:
            reached |= (pointers.data >= low) & (pointers.data <= end - width)
        return reached

    def is_still(before: Any, pointer: Any, others: Any) -> bool:
        return bool(inside(pointer).all()) and still(before, pointer, others)

    def outside(pointers: Any, mask: Any) -> Any:
        count[0] += 1
        if count[0] > MAX_ACCESSES:
            raise TooLong
        wrong = ~inside(pointers) if mask is None else ~inside(pointers) & mask.data.astype(bool)
        if wrong.any():
            lines.add(_line(translation))
        return wrong

    def load(self: Any, pointers: Any, mask: Any, other: Any, *more: Any) -> Any:
        wrong = outside(pointers, mask)
        loaded = plain["create_masked_load"](self, pointers, _without(mask, wrong), other, *more)
        loaded.data = numpy.where(wrong, numpy.zeros((), loaded.data.dtype), loaded.data)
        return loaded

    def store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> Any:
        return plain["create_masked_store"](
            self, pointers, value, _without(mask, outside(pointers, mask)), *more
        )

    def rmw(self: Any, operation: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> Any:
        wrong = outside(pointers, mask)
        before = plain["create_atomic_rmw"](self, operation, pointers, value, _without(mask, wrong), *more)
        before.data = numpy.where(wrong, numpy.zeros((), before.data.dtype), before.data)
        return before

    def cas(self: Any, pointers: Any, compare: Any, value: Any, *more: Any) -> Any:
        if not outside(pointers, None).any():
            return plain["create_atomic_cas"](self, pointers, compare, value, *more)
        return TensorHandle(numpy.zeros_like(compare.data), compare.dtype)  # of one element

    for name, made in zip(_WATCHED, (load, store, rmw, cas), strict=True):
        setattr(InterpreterBuilder, name, made)
    waiting._is_still = is_still  # it reads what an atomic left, and one outside was not made
    try:
        yield lines
    finally:
        waiting._is_still = still
        for name, method in plain.items():
            setattr(InterpreterBuilder, name, method)


_WATCHED = ("create_masked_load", "create_masked_store", "create_atomic_rmw", "create_atomic_cas")


def _without(mask: Any, wrong: Any) -> Any:
    return TensorHandle(mask.data.astype(bool) & ~wrong, mask.dtype)


def _line(translation: Translation) -> int:
    """The line of the source whose generated line runs now."""
    frame: Any = sys._getframe(2)
    while frame.f_code.co_name != translation.function:
        frame = frame.f_back
    known = [number for number in translation.lines if number <= frame.f_lineno]
    return translation.lines[max(known)]
