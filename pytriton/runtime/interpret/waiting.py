"""Detects a program that waits forever: it reads memory again and again, and nothing changes.

All that a program can do next depends on where it is, its variables and memory. While it writes nothing, memory
stays as it is, since no other program runs; so if it comes back to a place with the same variables, it will do so
forever. States are compared as in R. Brent's search for cycles (1980): with one that is kept, and replaced ever
more rarely.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from traceback import walk_stack
from typing import Any, Final

from pytriton.compat.interpreter_names import InterpreterBuilder, TensorHandle, tl
from pytriton.runtime.checks.diagnostics import Stuck
from pytriton.runtime.interpret.patches import Patches

MIN_READS: Final = 256  # in a row, before anything is compared


def waiting(module: str) -> Patches:
    """What makes the interpreter raise ``Stuck`` where the kernel of this file waits forever."""
    watch = _Watch(module)
    changes = ("create_masked_store", "create_atomic_rmw", "create_atomic_cas")
    return {
        (InterpreterBuilder, "create_masked_load"): watch.loads,
        **{(InterpreterBuilder, name): watch.changes for name in changes},
    }


class _Watch:
    """The reads of one program since it wrote anything, and the state that is kept."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._written()

    def loads(self, load: Any) -> Any:
        def create(builder: Any, pointer: Any, *others: Any) -> Any:
            loaded = load(builder, pointer, *others)
            self._read(builder, pointer, loaded)
            return loaded

        return create

    def changes(self, change: Any) -> Any:
        def create(builder: Any, *operands: Any) -> Any:
            before = change(builder, *operands)
            pointer, *others = (operand for operand in operands if isinstance(operand, TensorHandle))
            if before is None or not _is_still(before.data, pointer, others):
                self._written()
            else:
                self._read(builder, pointer, before)
            return before

        return create

    def _written(self) -> None:
        self._reads, self._next = 0, MIN_READS  # ``_next``: reads at which another state is kept
        self._state: Any = None

    def _read(self, builder: Any, pointer: Any, read: Any) -> None:
        """Count a read, and compare the state with the one that is kept; raises Stuck."""
        self._reads += 1
        if self._reads < MIN_READS:
            return
        # where it is: in helpers, which may read more than once, and last in the kernel
        frames = [f for f, _ in walk_stack(sys._getframe()) if f.f_code.co_filename == self._module]
        places = [(f.f_lasti, {name: _bytes_of(x) for name, x in f.f_locals.items()}) for f in frames]
        state = frames[-1], places  # the frame tells programs apart
        if self._reads >= self._next:
            self._next, self._state = 2 * self._next, state
        elif state == self._state:
            address, value = pointer.data.flat[0], read.data.flat[0]
            raise Stuck(tuple(builder.grid_idx), int(address), value, read.data.itemsize)


def _is_still(before: Any, pointer: Any, others: Sequence[Any]) -> bool:
    """Whether an atomic on one element left it as it was ``before``; where its mask is false, none is there."""
    if before.size != 1:
        return False
    is_masked = any(operand.data.dtype == bool and not operand.data.all() for operand in others)
    return is_masked or ctypes.string_at(int(pointer.data.item()), before.itemsize) == before.tobytes()


def _bytes_of(value: Any) -> bytes:
    return value.handle.data.tobytes() if isinstance(value, tl.tensor) else repr(value).encode()
