"""What the programs of a launch on the CPU store: elements that two of them set, and those that none of them sets.

Input: each plain store, before it is made. Output: a warning for each store that replaces the value of another
program by a different one (TC557), and a note for each output most of whose elements were not stored (TC558).

Only what is certain counts. Stores go through one parameter. A kernel with atomics, which may order its programs,
has no conflicts here (``check_races`` decides there). An output counts as unfinished only if the integer arguments
have its size, or if there are none, as several launches may fill one tensor; not if the launch also loads it, if an
argument is the number of stored elements, if offsets were loaded from memory, or if the tensor was changed before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
import torch

from pytriton.errors import Diagnostic, counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Memory
from pytriton.runtime.checks.races import Program, named
from pytriton.runtime.errors import warn

__all__ = ["Conflict", "Written", "tell_of_written"]


@dataclass(slots=True)
class Conflict:
    """Values of two programs for one element: the first pair, and in how many elements a store had one."""

    programs: tuple[Program, Program]
    values: tuple[str, str]
    address: int
    count: int = 0


@dataclass(slots=True)
class Written:
    """By parameter, the program that stored each element of its storage last; 0 for none."""

    conflicts: dict[int, Conflict] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)  # of elements, by parameter
    _owners: dict[tuple[int, int], Any] = field(default_factory=dict)
    _programs: dict[Program, int] = field(default_factory=dict)

    def store(self, site: Site, addresses: Any, program: Program, memory: Memory) -> Any:
        """Note a store; the other programs that stored these elements last, as numbers. None if there is none."""
        extent = memory.extents[site.roots[0]] if site.roots and len(site.roots) == 1 else None
        if extent is None or extent.tensor is None:
            return None
        key = extent.low, site.width
        if key not in self._owners:
            self._owners[key] = numpy.zeros(1 + (extent.end - extent.low) // site.width, numpy.int32)
        owners, at = self._owners[key], (addresses - numpy.uint64(extent.low)) // numpy.uint64(site.width)
        before, number = owners[at], self._programs.setdefault(program, len(self._programs) + 1)
        owners[at] = number
        name, known = extent.parameter.name, int(numpy.count_nonzero(before))
        self.counts[name] = self.counts.get(name, 0) + before.size - known
        return numpy.where(before == number, 0, before) if known else None

    def compare(
        self, number: int, owners: Any, old: Any, new: Any, addresses: Any, program: Program, width: int
    ) -> None:
        """Note the elements whose values differ; ``old`` is in memory, ``owners`` as ``store`` returned them.

        Rounding does not count: tiles that overlap may compute one element in two ways.
        """
        unlike = new != old
        if new.dtype.kind == "f":
            near = 0.03 if width == 2 else 1e-4
            size = numpy.abs(new[numpy.isfinite(new)]).max(initial=0)
            unlike &= ~numpy.isclose(new, old, near, near * size, equal_nan=True)
        unlike = numpy.flatnonzero((owners != 0) & unlike)
        if not unlike.size:
            return
        if number not in self.conflicts:
            at = unlike[0]
            other = list(self._programs)[owners[at] - 1]
            values = str(old[at]), str(new[at])
            self.conflicts[number] = Conflict((other, program), values, int(addresses[at]))
        self.conflicts[number].count += unlike.size


def tell_of_written(
    written: Written, sites: Sequence[Site], last: Mapping[int, int], memory: Memory, grid: Program
) -> None:
    """Warn once a place of conflicts, once a parameter of outputs that are mostly left as they were."""
    for number, conflict in written.conflicts.items():
        site = sites[number]
        first, second = conflict.programs
        place = named(conflict.address, site.width, site.roots or (), memory)
        values = " and ".join(conflict.values)
        message = f"programs {first} and {second} store different values to {place}: {values}"
        notes = (f"in a grid of {grid}; {counted(conflict.count, 'such element')}",)
        help_ = (
            "let one program store each element, or add with atomic_add; kernel.check_races finds all races"
        )
        found = Diagnostic("warning", "TC557", message, site.span, notes, help_)
        _once(("conflict", site.span.source.name, site.span.start), found, memory)
    for name in written.counts if memory.checks.outputs else ():
        store = _unfinished(name, written.counts[name], sites, last, memory)
        if store is not None:
            size = memory.extents[name].tensor.numel()  # type: ignore[union-attr]
            message = (
                f"most of '{name}' was not stored: only {written.counts[name]} of its {size} elements were"
            )
            help_ = (
                "look at the grid, the offsets and the mask; pass a view, as in y[:n], where that is meant"
            )
            found = Diagnostic("note", "TC558", message, store.span, (f"in a grid of {grid}",), help_)
            _once(("left", name), found, memory)


def _unfinished(
    name: str, count: int, sites: Sequence[Site], last: Mapping[int, int], memory: Memory
) -> Site | None:
    """A store to an output of which only ``count`` elements were stored, although the launch has its size."""
    reaching = {number: site for number, site in enumerate(sites) if name in (site.roots or (name,))}
    tensor, numbers = memory.extents[name].tensor, {*memory.numbers.values()}
    stores = [number for number in reaching if number in last]
    plain = all(site.kind == "store" and site.roots and not site.gathered for site in reaching.values())
    if tensor is None or not plain or 2 * count >= tensor.numel() or _is_older(tensor):
        return None
    sized = tensor.numel() in numbers or numbers >= {*tensor.shape} - {1}
    if numbers:
        return sites[stores[-1]] if sized and count not in numbers else None
    return sites[stores[-1]] if all(sites[number].shape for number in stores) else None


def _is_older(tensor: torch.Tensor) -> bool:
    """Whether it was changed in place before this launch, which may have counted as a change already."""
    return not tensor.is_inference() and tensor._version > 1


def _once(place: object, found: Diagnostic, memory: Memory) -> None:
    if place not in memory.checks.told:
        memory.checks.told.add(place)
        warn(found.render())
