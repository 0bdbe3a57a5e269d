"""Detects a program that waits forever: it reads memory again and again, and nothing changes.

All that a program can do next depends on where it is, its variables and memory. While it writes nothing, memory
stays as it is, since no other program runs; so if it comes back to a place with the same variables, it will do so
forever. States are compared as in R. Brent's search for cycles (1980): with one that is kept, and replaced ever
more rarely. A kernel that makes progress pays for a counter only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

import numpy
import triton.language as tl

from pytriton.compat.interpreter_names import InterpreterBuilder, TensorHandle
from pytriton.compat.triton_names import ir
from pytriton.runtime.checks.diagnostics import Stuck
from pytriton.runtime.interpret.patches import Patches

MIN_READS: Final = 256  # in a row, before anything is compared
EVERY: Final = 16  # reads: every cycle length divides some multiple of this

_AFTER: Final[dict[Any, Callable[[Any, Any], Any]]] = {
    ir.ATOMIC_OP.ADD: numpy.add,
    ir.ATOMIC_OP.FADD: numpy.add,
    ir.ATOMIC_OP.AND: numpy.bitwise_and,
    ir.ATOMIC_OP.OR: numpy.bitwise_or,
    ir.ATOMIC_OP.XOR: numpy.bitwise_xor,
    ir.ATOMIC_OP.MAX: numpy.maximum,
    ir.ATOMIC_OP.UMAX: numpy.maximum,
    ir.ATOMIC_OP.MIN: numpy.minimum,
    ir.ATOMIC_OP.UMIN: numpy.minimum,
    ir.ATOMIC_OP.XCHG: lambda old, new: new,
}

_State = dict[str, Any]


def waiting(code: CodeType) -> Patches:
    """What makes the interpreter raise ``Stuck`` where the kernel of this code waits forever."""
    watch = _Watch(code)
    return {
        (InterpreterBuilder, "create_masked_load"): watch.loads,
        (InterpreterBuilder, "create_masked_store"): watch.stores,
        (InterpreterBuilder, "create_atomic_rmw"): partial(watch.atomics, leaves=_rmw_leaves),
        (InterpreterBuilder, "create_atomic_cas"): partial(watch.atomics, leaves=_cas_leaves),
    }


class _Watch:
    """The reads of one program since it wrote anything, and the state that is kept."""

    def __init__(self, code: CodeType) -> None:
        self._code = code
        self._reads = 0
        self._next = MIN_READS  # reads at which another state is kept
        self._frame: FrameType | None = None
        self._place = -1
        self._state: _State = {}

    def loads(self, load: Any) -> Any:
        def create(builder: Any, pointer: Any, *others: Any) -> Any:
            loaded = load(builder, pointer, *others)
            self._read(builder, pointer, loaded)
            return loaded

        return create

    def stores(self, store: Any) -> Any:
        def create(*operands: Any) -> Any:
            self._written()
            return store(*operands)

        return create

    def atomics(self, change: Any, leaves: Callable[..., bool]) -> Any:
        """``leaves``: whether an atomic leaves memory as it was before."""

        def create(builder: Any, *operands: Any) -> Any:
            before = change(builder, *operands)
            if before.data.size != 1 or not leaves(before, *operands):
                self._written()
                return before
            pointer = next(operand for operand in operands if isinstance(operand, TensorHandle))
            self._read(builder, pointer, before)
            return before

        return create

    def _written(self) -> None:
        self._reads, self._next, self._frame, self._state = 0, MIN_READS, None, {}

    def _read(self, builder: Any, pointer: Any, read: Any) -> None:
        """Count a read, and now and then compare the state with the one that is kept; raises Stuck."""
        self._reads += 1
        compares = self._reads >= MIN_READS and self._reads % EVERY == 0
        frame = self._kernel() if compares else None
        if frame is None:
            return
        if frame is not self._frame and self._frame is not None:  # another program
            self._written()
        elif self._reads >= self._next:
            self._next *= 2
            self._frame, self._place, self._state = frame, frame.f_lasti, _state_of(frame.f_locals)
        elif frame.f_lasti == self._place and _is(self._state, frame.f_locals):
            program = tuple(builder.grid_idx)
            address, value = pointer.data.reshape(-1)[0], read.data.reshape(-1)[0]
            raise Stuck(program, int(address), value, read.data.itemsize)

    def _kernel(self) -> FrameType | None:
        """The frame of the kernel itself."""
        frame: FrameType | None = sys._getframe(2)
        while frame is not None and frame.f_code is not self._code:
            frame = frame.f_back
        return frame


def _cas_leaves(before: Any, pointer: Any, expected: Any, new: Any, *others: Any) -> bool:
    return bool(before.data != expected.data or expected.data == new.data)


def _rmw_leaves(before: Any, operation: Any, pointer: Any, value: Any, mask: Any, *others: Any) -> bool:
    if not mask.data.any():
        return True
    return bool(_AFTER[operation](before.data, value.data) == before.data)


def _state_of(variables: Mapping[str, Any]) -> _State:
    """The variables, those of one element first: the number of an iteration differs most often."""
    known = {name: _bytes_of(value) for name, value in variables.items()}
    return dict(sorted(known.items(), key=lambda item: len(item[1])))


def _is(state: _State, variables: Mapping[str, Any]) -> bool:
    if len(state) != len(variables):
        return False
    return all(name in variables and _bytes_of(variables[name]) == known for name, known in state.items())


def _bytes_of(value: Any) -> bytes:
    return value.handle.data.tobytes() if isinstance(value, tl.tensor) else repr(value).encode()
