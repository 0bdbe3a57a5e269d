"""The accesses of checked code on the CPU: NumPy functions in the place of the helpers that a GPU runs.

Input: the addresses and the mask of a block. Output: a load gives 0 for what is outside, a store and an atomic do
nothing there; the first such access of each site is kept with the number of all. Each is reported to an observer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy

from pytriton.compat.interpreter_names import interpreter_builder, tl
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Violation, indices_of, starts_on_cpu
from pytriton.runtime.checks.observers import Observer
from pytriton.runtime.interpret.patches import array_of, spread, tensor
from pytriton.runtime.launch.extents import Memory


class CheckedAccesses:
    """One launch of checked code: the helpers by name in ``functions``; by site, the
    ``violations`` and the highest address, ``last``."""

    def __init__(self, sites: Sequence[Site], memory: Memory, observer: Observer | None = None) -> None:
        self.sites, self.memory = sites, memory
        self._observer = observer or Observer()
        self.violations: dict[int, Violation] = {}
        self.last: dict[int, int] = {}
        self._starts = starts_on_cpu(sites, memory)
        self._scratch = numpy.zeros(1, numpy.uint64)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Made when asked for: kept here, a cycle would keep the user's tensors alive."""
        return {
            "checked_load": self._load,
            "checked_store": self._store,
            "checked_atomic_add": partial(self._changed, "atomic_add"),
            "checked_atomic_xchg": partial(self._changed, "atomic_xchg"),
            "checked_atomic_cas": self._cas,
            "watched": self._watched,
        }

    # The helpers, with the arguments that generated code gives them; the last are the table, the number of the site
    # and two numbers for the table.

    def _load(self, pointer: Any, mask: Any, other: Any, *site: Any) -> Any:
        inside = self._inside(pointer, mask, site[1])
        loaded = tl.load(pointer, _mask(pointer, inside), other)
        return _zero_where(loaded, kept(inside, mask) & ~inside)

    def _store(self, pointer: Any, value: Any, mask: Any, *site: Any) -> None:
        inside = self._inside(pointer, mask, site[1])
        tl.store(pointer, value, _mask(pointer, inside))
        self._done("store", pointer, value, mask, site[1])

    def _done(self, kind: str, pointer: Any, value: Any, mask: Any, number: int) -> None:
        """A store or an atomic of what the mask lets through has run."""
        addresses = pointer.handle.data
        values, chosen = spread(value, addresses.shape), kept(addresses, mask)
        self._observer.stored(interpreter_builder.grid_idx, number, kind, addresses, values, chosen)

    def _watched(self, number: int, *values: Any) -> None:
        """A statement of traced code has run; its value, if it has one."""
        self._observer.ran(number, *(partial(array_of, value) for value in values))

    def _changed(self, atomic: str, pointer: Any, value: Any, mask: Any, *site: Any) -> Any:
        inside = self._inside(pointer, mask, site[1])
        before = _zero_where(getattr(tl, atomic)(pointer, value, _mask(pointer, inside)), ~inside)
        self._done("atomic", pointer, value, mask, site[1])
        return before

    def _cas(self, pointer: Any, compare: Any, value: Any, mask: Any, *site: Any) -> Any:
        """It has no mask: what is outside goes to a scratch number."""
        inside = self._inside(pointer, mask, site[1])
        self._scratch[:] = 0
        addresses = numpy.where(inside, pointer.handle.data, numpy.uint64(self._scratch.ctypes.data))
        before = _zero_where(tl.atomic_cas(tensor(addresses, pointer.type), compare, value), ~inside)
        equal = array_of(before, inside.shape) == array_of(compare, ())
        if equal.any():
            self._done("atomic", pointer, value, equal, site[1])
        return before

    # The check.

    def _inside(self, pointer: Any, mask: Any, number: int) -> Any:
        """Which elements that the mask lets through are inside, as truth values."""
        addresses = pointer.handle.data
        wanted = outside = kept(addresses, mask)
        self.last[number] = max(self.last.get(number, 0), int(addresses.max()))
        for start, span in self._starts[number]:
            outside = outside & (addresses - numpy.uint64(start) >= numpy.uint64(span))
        if outside.any():
            self._note(number, addresses, outside)
        inside = wanted & ~outside
        self._observer.touched(interpreter_builder.grid_idx, number, addresses, inside)
        return inside

    def _note(self, number: int, addresses: Any, outside: Any) -> None:
        reached, program, site = addresses[outside], interpreter_builder.grid_idx, self.sites[number]
        element = indices_of(int(outside.reshape(-1).argmax()), outside.shape, site)
        first, whole = int(reached[0]), bool(outside.all())
        violation = self.violations.setdefault(
            number, Violation(site, 0, 0, program, element, first, first, first, whole)
        )
        violation.count += int(reached.size)
        violation.programs = (violation.programs or 0) + (violation.last != program)
        violation.last = program
        violation.lowest = min(violation.lowest, int(reached.min()))
        violation.highest = max(violation.highest, int(reached.max()))


def kept(addresses: Any, mask: Any) -> Any:
    """What a mask lets through, with the shape of the addresses."""
    return spread(mask, addresses.shape).astype(bool)


def _mask(pointer: Any, inside: Any) -> Any:
    type_ = tl.block_type(tl.int1, pointer.shape) if pointer.type.is_block() else tl.int1
    return tensor(inside, type_)


def _zero_where(value: Any, places: Any) -> Any:
    data = value.handle.data
    data = numpy.where(places.reshape(data.shape), numpy.zeros((), data.dtype), data)
    return tensor(data, value.type)
