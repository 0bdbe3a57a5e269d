"""Observers of the accesses and the statements of a launch, one program after another.

Input: addresses, values and masks as NumPy arrays of one shape (runtime/interpret/accesses.py). Output of
``Racing``: ``races``, by the two sites that meet, and ``doubles``, the stores of a block that went to one address
twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.diagnostics import Double, Program, Race, number_of, program_of
from pytriton.runtime.checks.memory import indices_of
from pytriton.runtime.checks.shadow import AccessShadow


class Observer:
    """Accesses are reported to it in the order in which they run; subclasses use what they need."""

    def touched(self, program: Program, number: int, addresses: Any, inside: Any) -> None:
        """The access of a site: which of its elements are inside."""

    def stored(
        self, program: Program, number: int, kind: str, addresses: Any, values: Any, chosen: Any
    ) -> None:
        """A store or an atomic of the chosen elements has run."""

    def ran(self, number: int, *read: Callable[[tuple[int, ...]], Any]) -> None:
        """A statement has run. ``read`` gives its value, in a shape."""


class Racing(Observer):
    """Looks up the shadow of the memory at each access of one launch."""

    def __init__(self, sites: Sequence[Site], grid: Program) -> None:
        self.races: dict[tuple[int, int], Race] = {}
        self.doubles: dict[int, Double] = {}
        self._sites, self._grid = sites, grid
        unit = min((site.width for site in sites), default=1)
        self.shadow = AccessShadow(unit, math.prod(grid))

    def touched(self, program: Program, number: int, addresses: Any, inside: Any) -> None:
        addresses, flat = addresses.reshape(-1), numpy.flatnonzero(inside)
        site, now = self._sites[number], number_of(program, self._grid)
        for clash in self.shadow.touched(now, number, site.kind, addresses[flat], site.width):
            other, places = program_of(clash.before.program, self._grid), flat[clash.places]
            key = min(number, clash.before.site), max(number, clash.before.site)
            element, address = indices_of(int(places[0]), inside.shape, site), int(addresses[places[0]])
            race = self.races.setdefault(
                key, Race(site, self._sites[clash.before.site], program, other, element, address)
            )
            race.addresses.update(addresses[places].tolist())
            race.programs |= {program, other}

    def stored(
        self, program: Program, number: int, kind: str, addresses: Any, values: Any, chosen: Any
    ) -> None:
        """Note elements of one block that are stored to one address; those with different values first."""
        if kind != "store":
            return
        values = values[chosen]
        order = numpy.argsort(addresses[chosen], kind="stable")
        places, where, values = numpy.flatnonzero(chosen)[order], addresses[chosen][order], values[order]
        bits = values.view(f"u{values.dtype.itemsize}")
        twice = where[1:] == where[:-1]
        unlike = twice & (bits[1:] != bits[:-1])
        if not twice.any():
            return
        double = self.doubles.get(number)
        if double is None or (not double.differs and unlike.any()):
            at = int(numpy.flatnonzero(unlike if unlike.any() else twice)[0])
            site, pair = self._sites[number], slice(at, at + 2)
            elements = [indices_of(place, addresses.shape, site) for place in places[pair].tolist()]
            shown, differs = [str(element) for element in values[pair]], bool(unlike.any())
            double = Double(site, program, elements, shown, int(where[at]), differs)
            self.doubles[number] = double
        double.count += int(numpy.count_nonzero(unlike if double.differs else twice))
