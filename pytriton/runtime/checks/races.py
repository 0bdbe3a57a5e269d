"""Races of a launch, and how they are said: an error at the user's line, which shows the other line, too.

Input: what ``runtime/interpret/racing.py`` found. Two programs that touch one element, one of them writing it,
without an order by atomics (TC553), and two elements of a block that store different values to one address (TC554)
are errors. Equal values are no more than a note: whoever comes last, memory is the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pytriton.errors import Diagnostic, counted
from pytriton.passes.check.sites import Site
from pytriton.runtime.checks.memory import Extent, Memory
from pytriton.runtime.checks.report import refuse
from pytriton.runtime.errors import warn

__all__ = ["Double", "Program", "Race", "named", "tell_of_races"]

Program = tuple[int, int, int]


@dataclass(slots=True)
class Race:
    """Accesses of two sites that meet: the first pair, and the addresses at which any did, in which programs."""

    site: Site
    other_site: Site
    program: Program
    other: Program
    element: tuple[int, ...]
    address: int
    addresses: set[int] = field(default_factory=set)
    programs: set[Program] = field(default_factory=set)


@dataclass(slots=True)
class Double:
    """Elements of a block that are stored to one address: the first pair, and how many did."""

    site: Site
    program: Program
    elements: list[tuple[int, ...]]
    values: list[str]
    address: int
    differs: bool
    count: int = 0


def tell_of_races(
    races: Collection[Race], doubles: Collection[Double], memory: Memory, grid: Program
) -> None:
    """Warn of what is only a note; raise LaunchError for all else, if there is any."""
    errors = [_of_race(race, memory, grid) for race in races]
    for double in doubles:
        if double.differs:
            errors.append(_of_double(double, memory, grid))
        else:
            warn(_of_double(double, memory, grid).render())
    refuse(errors, "there are {} more races")


def named(address: int, width: int, roots: Iterable[str], memory: Memory) -> str:
    """An address as a user knows it: ``element 5 of 'z'``. ``roots``: the parameters that it probably came from."""
    found = _extent_of(address, roots, memory)
    if found is None:
        return f"memory at {address:#x}"
    return f"element {(address - found.start) // width} of '{found.parameter.name}'"


def _extent_of(address: int, roots: Iterable[str], memory: Memory) -> Extent | None:
    for name in (*roots, *memory.extents):
        extent = memory.extents[name]
        if extent.low <= address < extent.end:
            return extent
    return None


def _place(address: int, site: Site, memory: Memory) -> str:
    return named(address, site.width, site.roots or (), memory)


_VERBS = {"load": "loads", "store": "stores to", "atomic": "changes by an atomic"}


def _of_race(race: Race, memory: Memory, grid: Program) -> Diagnostic:
    place = _place(race.address, race.site, memory)
    kind, other = race.site.kind, race.other_site.kind
    if kind == other:
        message = f"race: programs {race.other} and {race.program} both store to {place}, in no order"
    else:
        message = (
            f"race: program {race.program} {_VERBS[kind]} {place}, which program {race.other} "
            f"{_VERBS[other].removesuffix(' to')}, in no order"
        )
    where = f"in a grid of {grid}"
    if race.element:
        where += f", element {list(race.element)} of the block {list(race.site.shape)}"
    more = len(race.addresses) - 1
    if more:
        where += f"; {counted(more, 'more element')}, in {counted(len(race.programs), 'program')}"
    notes: list[str | tuple[str, object]] = [where]
    if race.other_site.span != race.site.span:
        notes.append((f"program {race.other} does it here", race.other_site.span))
    return Diagnostic("error", "TC553", message, race.site.span, tuple(notes), _cure(race))  # type: ignore[arg-type]


def _cure(race: Race) -> str:
    kinds = {race.site.kind, race.other_site.kind}
    if kinds == {"store"}:
        return (
            "let one program write each element: look at its offset and its mask; or add with atomic_add, "
            "or take a lock around a sum"
        )
    if "atomic" in kinds:
        return "reach the element by atomics alone, or order the programs by a lock"
    return (
        "let another launch read what this one writes, write to another tensor, or order the programs by a lock: "
        "atomic_cas before, atomic_xchg after"
    )


def _of_double(double: Double, memory: Memory, grid: Program) -> Diagnostic:
    first, second = (list(element) for element in double.elements)
    place = _place(double.address, double.site, memory)
    notes = [f"in program {double.program} of a grid of {grid}"]
    more = double.count - 1
    if more:
        notes[0] += f"; {counted(more, 'more element')}"
    if not double.differs:
        message = f"elements {first} and {second} of a block both store {double.values[0]} to {place}"
        return Diagnostic("note", "TC554", message, double.site.span, tuple(notes))
    values = f"{double.values[0]} and {double.values[1]}"
    message = f"race: elements {first} and {second} of a block store {values} to {place}"
    help_ = "give each element an address of its own, or mask all but one; atomic_add adds them up"
    return Diagnostic("error", "TC554", message, double.site.span, tuple(notes), help_)
