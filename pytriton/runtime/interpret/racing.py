"""The accesses of checked code, watched for races: the memory's shadow is asked at each of them.

Input: launches of ``CheckedAccesses``, one at a time. Output: ``races``, by the two sites that meet, and
``doubles``, the stores of a block that went to one address twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.races import Double, Race
from pytriton.runtime.checks.shadow import Shadow
from pytriton.runtime.interpret.arrays import array_of
from pytriton.runtime.interpret.checked import CheckedAccesses, Launched, kept, program_id

__all__ = ["Racing"]


class Racing(CheckedAccesses):
    """The helpers of one checked kernel; they work inside ``of(a launch)``."""

    def __init__(self, sites: Sequence[Site], grid: tuple[int, int, int]) -> None:
        super().__init__(sites)
        self.races: dict[tuple[int, int], Race] = {}
        self.doubles: dict[int, Double] = {}
        self.atomics = False  # whether there were any: else the order of programs can change nothing
        self._grid = grid
        self._shadow: Shadow | None = None

    @contextmanager
    def of(self, launched: Launched) -> Iterator[None]:
        """While the body runs, the accesses are those of one launch."""
        extents = launched.memory.extents.values()
        ranges = [(extent.low, extent.end) for extent in extents if extent.end > extent.low]
        unit = min((site.width for site in self.sites), default=1)
        x, y, z = self._grid
        self._shadow = Shadow(ranges, unit, x * y * z)
        with super().of(launched):
            yield
        self.atomics = self._shadow.atomics
        self._shadow = None

    def _inside(self, pointer: Any, mask: Any, number: int) -> Any:
        inside = super()._inside(pointer, mask, number)
        addresses = pointer.handle.data
        reached = kept(addresses, mask) if inside is None else inside
        assert self._shadow is not None
        site, program = self.sites[number], program_id()
        x, y, _ = self._grid
        linear = program[0] + x * (program[1] + y * program[2])
        flat = numpy.flatnonzero(reached)
        for clash in self._shadow.touched(linear, number, site.kind, addresses.reshape(-1)[flat], site.width):
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
