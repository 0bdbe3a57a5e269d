"""The accesses of checked code on the CPU: NumPy functions in the place of the helpers that a GPU runs.

The interpreter has the addresses and the mask of a block at hand; whether all of them are inside is one minimum
and one maximum. Only where they are not, a mask is computed: a load gives 0 there, a store and an atomic do
nothing, and the first of each site is kept with the number of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy
import triton.language as tl

from pytriton.compat.interpreter_names import TensorHandle, interpreter_builder
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.diagnostics import Double, Race
from pytriton.runtime.checks.memory import Pages, Violation
from pytriton.runtime.checks.shadow import AccessShadow, StoreLog
from pytriton.runtime.interpret.patches import array_of
from pytriton.runtime.launch.extents import Memory, Range

_NOWHERE: Final[Range] = (1, 0)


class CheckedAccesses:
    """One launch of checked code: the helpers by name in ``functions``; by site, the violations that they
    ``found`` and the highest address, ``last``; and what was ``written``."""

    def __init__(self, sites: Sequence[Site], memory: Memory) -> None:
        self.sites, self.memory = sites, memory
        self.found: dict[int, Violation] = {}
        self.last: dict[int, int] = {}
        self.written = StoreLog()
        self._ordered = any(site.kind == "atomic" for site in sites)  # perhaps: the programs, by locks
        # By site: the lowest and the highest address that need no second look.
        self._bounds = [
            (known[0][0], known[0][1] - site.width) if (known := memory.ranges(site)) else _NOWHERE
            for site in sites
        ]
        self._pages: dict[bool, Pages] = {}
        self._scratch = numpy.zeros(1, numpy.uint64)

    @property
    def functions(self) -> Mapping[str, Callable[..., Any]]:
        """Made when asked for: kept here, a cycle would keep the user's tensors alive."""
        return {
            "checked_load": self._load,
            "checked_store": self._store,
            "checked_atomic_add": self._add,
            "checked_atomic_xchg": self._xchg,
            "checked_atomic_cas": self._cas,
        }

    # The helpers, with the arguments that generated code gives them; the last are the table, the number of the site
    # and two numbers for the table.

    def _load(self, pointer: Any, mask: Any, other: Any, *site: Any) -> Any:
        inside = self._inside(pointer, mask, site[1])
        if inside is None:
            return tl.load(pointer) if mask is True else tl.load(pointer, mask, other)
        loaded = tl.load(pointer, _mask(pointer, inside), other)
        return loaded if other is None else _zero_outside(loaded, inside, mask)

    def _store(self, pointer: Any, value: Any, mask: Any, *site: Any) -> None:
        inside = self._inside(pointer, mask, site[1])
        self._note_store(pointer, value, mask, inside, site[1])
        if inside is not None:
            tl.store(pointer, value, _mask(pointer, inside))
        elif mask is True:
            tl.store(pointer, value)
        else:
            tl.store(pointer, value, mask)

    def _note_store(self, pointer: Any, value: Any, mask: Any, inside: Any, number: int) -> None:
        """Note what a store sets, and compare it with what other programs have stored there."""
        every, shape = pointer.handle.data, pointer.handle.data.shape
        at: Any = slice(None)
        if inside is not None or mask is not True:
            at = (kept(every, mask) if inside is None else inside).reshape(-1)
        addresses = every.reshape(-1)[at]
        program, site = program_id(), self.sites[number]
        owners = self.written.store(site, addresses, program, self.memory)
        if owners is None or self._ordered or not owners.any():
            return
        old, new = [
            numpy.broadcast_to(array_of(each, shape), shape).reshape(-1)[at]
            for each in (
                tl.load(pointer, _mask(pointer, kept(every, mask) if inside is None else inside)),
                value,
            )
        ]
        self.written.compare(number, owners, old, new.astype(old.dtype), addresses, program, site.width)

    def _add(self, pointer: Any, value: Any, mask: Any, *site: Any) -> Any:
        return self._changed(tl.atomic_add, pointer, value, mask, site[1])

    def _xchg(self, pointer: Any, value: Any, mask: Any, *site: Any) -> Any:
        return self._changed(tl.atomic_xchg, pointer, value, mask, site[1])

    def _changed(self, atomic: Any, pointer: Any, value: Any, mask: Any, number: int) -> Any:
        inside = self._inside(pointer, mask, number)
        if inside is None:
            return atomic(pointer, value) if mask is True else atomic(pointer, value, mask)
        return _zero_where(atomic(pointer, value, _mask(pointer, inside)), ~inside)

    def _cas(self, pointer: Any, compare: Any, value: Any, mask: Any, *site: Any) -> Any:
        """It has no mask: what is outside goes to a scratch number."""
        inside = self._inside(pointer, mask, site[1])
        if inside is None:
            return tl.atomic_cas(pointer, compare, value)
        self._scratch[:] = 0
        addresses = numpy.where(inside, pointer.handle.data, numpy.uint64(self._scratch.ctypes.data))
        moved = tl.tensor(TensorHandle(addresses, pointer.handle.dtype), pointer.type)
        return _zero_where(tl.atomic_cas(moved, compare, value), ~inside)

    # The check.

    def _inside(self, pointer: Any, mask: Any, number: int) -> Any:
        """None if all elements that the mask lets through are inside; else which of these are, as truth values."""
        addresses = pointer.handle.data
        low, last = self._bounds[number]
        lowest, highest = int(addresses.min()), int(addresses.max())
        if highest > self.last.get(number, 0):
            self.last[number] = highest
        if low <= lowest and highest <= last:
            return None
        wanted = kept(addresses, mask)
        inside = wanted & self._reached(addresses, number)
        outside = wanted & ~inside
        if not outside.any():
            return None
        self._note(number, addresses, outside)
        return inside

    def _reached(self, addresses: Any, number: int) -> Any:
        """Which addresses are inside, as truth values."""
        memory, site = self.memory, self.sites[number]
        inside = numpy.zeros(addresses.shape, bool)
        for low, end in memory.ranges(site):
            if end - site.width >= low:
                inside |= (addresses >= low) & (addresses <= end - site.width)
        if memory.is_open(site) and not inside.all():
            writes = site.kind != "load"
            if writes not in self._pages:
                self._pages[writes] = Pages(writable=writes)
            pages = self._pages[writes]
            inside |= pages.hold(addresses, site.width)
            around = pages.around(int(addresses.min()))
            if around is not None:
                self._bounds[number] = around[0], around[1] - site.width
        return inside

    def _note(self, number: int, addresses: Any, outside: Any) -> None:
        reached = addresses[outside]
        lowest, highest, count = int(reached.min()), int(reached.max()), int(reached.size)
        known, program = self.found.get(number), program_id()
        if known is not None:
            known.count += count
            known.programs = (known.programs or 0) + (known.last != program)
            known.last = program
            known.lowest, known.highest = min(known.lowest, lowest), max(known.highest, highest)
            return
        site = self.sites[number]
        at = int(outside.reshape(-1).argmax())
        element = tuple(map(int, numpy.unravel_index(at, outside.shape))) if site.shape else ()
        address = int(addresses.reshape(-1)[at])
        self.found[number] = Violation(
            *(site, count, 1, program, element, address, lowest, highest),
            all_outside=bool(outside.all()),
            last=program,
        )


def kept(addresses: Any, mask: Any) -> Any:
    """What a mask lets through, with the shape of the addresses."""
    data = mask.handle.data if isinstance(mask, tl.tensor) else numpy.array(bool(mask))
    return numpy.broadcast_to(data.astype(bool), addresses.shape)


def program_id() -> tuple[int, int, int]:
    x, y, z = interpreter_builder.grid_idx
    return x, y, z


def _mask(pointer: Any, inside: Any) -> Any:
    type_ = tl.block_type(tl.int1, pointer.shape) if pointer.type.is_block() else tl.int1
    return tl.tensor(TensorHandle(inside, tl.int1), type_)


def _zero_outside(loaded: Any, inside: Any, mask: Any) -> Any:
    """0 for what the mask lets through but is not inside, where others of the load were given."""
    return _zero_where(loaded, kept(inside, mask) & ~inside)


def _zero_where(value: Any, places: Any) -> Any:
    data = value.handle.data
    data = numpy.where(places.reshape(data.shape), numpy.zeros((), data.dtype), data)
    return tl.tensor(TensorHandle(data, value.handle.dtype), value.type)


# The accesses of checked code, watched for races: the memory's shadow is asked at each of them.
#
# Output: ``races``, by the two sites that meet, and ``doubles``, the stores of a block that went to one address
# twice.


class Racing(CheckedAccesses):
    """One launch of checked code, and the ``shadow`` of its memory."""

    def __init__(self, sites: Sequence[Site], memory: Memory, grid: tuple[int, int, int]) -> None:
        super().__init__(sites, memory)
        self.races: dict[tuple[int, int], Race] = {}
        self.doubles: dict[int, Double] = {}
        self._grid = grid
        ranges = [(extent.low, extent.end) for extent in memory.extents.values() if extent.end > extent.low]
        unit = min((site.width for site in sites), default=1)
        self.shadow = AccessShadow(ranges, unit, math.prod(grid))

    def _inside(self, pointer: Any, mask: Any, number: int) -> Any:
        inside = super()._inside(pointer, mask, number)
        addresses = pointer.handle.data
        reached = kept(addresses, mask) if inside is None else inside
        site, program = self.sites[number], program_id()
        x, y, _ = self._grid
        linear = program[0] + x * (program[1] + y * program[2])
        flat = numpy.flatnonzero(reached)
        for clash in self.shadow.touched(linear, number, site.kind, addresses.reshape(-1)[flat], site.width):
            before = clash.before.program
            other = before % x, before // x % y, before // (x * y)
            key = min(number, clash.before.site), max(number, clash.before.site)
            race = self.races.get(key)
            if race is None:
                at = int(flat[clash.places[0]])
                element = tuple(map(int, numpy.unravel_index(at, addresses.shape))) if site.shape else ()
                address = int(addresses.reshape(-1)[at])
                race = Race(site, self.sites[clash.before.site], program, other, element, address)
                self.races[key] = race
            race.addresses.update(addresses.reshape(-1)[flat[clash.places]].tolist())
            race.programs |= {program, other}
        return inside

    def _store(self, pointer: Any, value: Any, mask: Any, *site: Any) -> None:
        addresses = pointer.handle.data
        chosen = numpy.flatnonzero(kept(addresses, mask))
        where = addresses.reshape(-1)[chosen]
        if where.size > 1 and not (where[1:] > where[:-1]).all():
            values = numpy.broadcast_to(array_of(value, addresses.shape), addresses.shape).reshape(-1)
            self._note_double(where, values[chosen], site[1], chosen, addresses.shape)
        super()._store(pointer, value, mask, *site)

    def _note_double(self, where: Any, values: Any, number: int, chosen: Any, shape: tuple[int, ...]) -> None:
        """Note elements of one block that go to one address; those with different values first."""
        order = numpy.argsort(where, kind="stable")
        bits = numpy.ascontiguousarray(values[order]).view(f"u{values.dtype.itemsize}")
        twice = where[order][1:] == where[order][:-1]
        unlike = twice & (bits[1:] != bits[:-1])
        if not twice.any():
            return
        double = self.doubles.get(number)
        if double is None or (not double.differs and unlike.any()):
            at = int(numpy.flatnonzero(unlike if unlike.any() else twice)[0])
            pair = [
                tuple(map(int, numpy.unravel_index(int(chosen[order[at + one]]), shape))) for one in (0, 1)
            ]
            shown = [str(values[order[at + one]]) for one in (0, 1)]
            address = int(where[order[at]])
            double = Double(self.sites[number], program_id(), pair, shown, address, bool(unlike.any()))
            self.doubles[number] = double
        double.count += int(numpy.count_nonzero(unlike if double.differs else twice))
