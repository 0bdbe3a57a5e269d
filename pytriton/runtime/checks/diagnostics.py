"""Reports accesses out of bounds: a warning for a load, a LaunchError for a store or an atomic.

Input: the violations of a launch, by site. The text is a diagnostic at the user's own line, with the program, the
element of the block, the tensor, how far outside it was, and the likely cure (cures.py). A load is reported once a
place in the text; under ``"strict"`` it raises as a store does.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import torch

from pytriton.errors import Diagnostic, LaunchError, counted
from pytriton.passes.check.sites import Site
from pytriton.pipeline import Translation
from pytriton.runtime.checks.cures import cure_of
from pytriton.runtime.checks.memory import Outside, Violation
from pytriton.runtime.compile.failures import Explained
from pytriton.runtime.errors import remark, warn, warn_once
from pytriton.runtime.launch.extents import Extent, Memory
from pytriton.source import Source, Span

Grid = tuple[int, int, int]

MAX_DIAGNOSTICS: Final = 4  # in one error


def tell(violations: Mapping[int, Violation], memory: Memory, grid: Grid) -> None:
    """Warn of loads; raise LaunchError if a store or an atomic was outside, or any access in strict mode."""
    errors: list[Violation] = []
    for violation in _by_place(violations):
        if violation.site.kind != "load" or memory.checks.strict:
            errors.append(violation)
        else:
            warning = _diagnostic(Outside(violation, memory, grid), "warning")
            warn_once(warning, _place_of(violation), memory.checks.warned)
    refuse(
        [_diagnostic(Outside(error, memory, grid), "error") for error in errors],
        "{} more accesses are out of bounds",
    )


def refuse(errors: Sequence[Diagnostic], rest: str) -> None:
    """Raise LaunchError for these, if there are any; ``rest`` reports the number not shown."""
    shown = [error.render() for error in errors[:MAX_DIAGNOSTICS]]
    if len(errors) > MAX_DIAGNOSTICS:
        shown.append(f"note: {rest.format(len(errors) - MAX_DIAGNOSTICS)}")
    if shown:
        raise LaunchError("\n\n".join(shown), tuple(errors))


def findings(violations: Mapping[int, Violation], memory: Memory, grid: Grid) -> list[Diagnostic]:
    """Diagnostics of all violations; nothing is raised."""
    return [
        _diagnostic(Outside(violation, memory, grid), "error" if violation.site.kind != "load" else "warning")
        for violation in _by_place(violations)
    ]


def _by_place(violations: Mapping[int, Violation]) -> Iterable[Violation]:
    """The violations, one for each place; the parts of a split loop are one place."""
    by_place: dict[object, Violation] = {}
    for violation in violations.values():
        by_place.setdefault(_place_of(violation), violation)
    return by_place.values()


def _place_of(violation: Violation) -> object:
    span = violation.site.span
    return span.source.name, span.start, span.end


def _diagnostic(outside: Outside, severity: str) -> Diagnostic:
    violation = outside.violation
    message = f"{violation.site.kind} {_target(outside)}"
    code = "TC551" if violation.site.kind == "load" else "TC550"
    notes = [_place(outside), *_tensor(outside), *_consequence(outside, severity)]
    return Diagnostic(severity, code, message, violation.site.span, tuple(notes), cure_of(outside))  # type: ignore[arg-type]


def _target(outside: Outside) -> str:
    """The target: ``outside 'y': 24 elements past the end``."""
    extent, site, address = outside.extent, outside.site, outside.violation.address
    if extent is None:
        return f"through a pointer that was loaded or computed: there is no memory at {address:#x}"
    name = extent.parameter.name
    verb = {"load": "from", "store": "to", "atomic": "on"}[site.kind]
    if extent.is_open:
        return f"{verb} '{name}', an address: there is no memory at {address:#x}"
    if extent.tensor is None:
        return f"{verb} '{name}', which is {outside.absent}"
    others = [f"'{root}'" for root in site.roots or () if root != name]
    return f"outside {' and '.join([repr(name), *others])}: {outside.distance}"


def _place(outside: Outside) -> str:
    violation, grid = outside.violation, outside.grid
    text = f"in program {violation.program} of a grid of {grid}"
    if violation.element:
        text += f", element {list(violation.element)} of the block {list(violation.site.shape)}"
    more = violation.count - 1
    if more:
        text += f"; {counted(more, 'more element')}"
        if violation.programs != 1:
            text += f", in {violation.programs or 'several'} programs"
    return text


def _tensor(outside: Outside) -> list[str]:
    """What was passed."""
    extent = outside.extent
    if extent is None or extent.tensor is None:
        return []
    tensor, name = extent.tensor, extent.parameter.name
    if extent.parameter.buffer:
        return [f"'{name}' is a constant buffer of {counted(extent.parameter.buffer, 'byte')}"]
    first, last = outside.reachable
    dtype = str(tensor.dtype).removeprefix("torch.")
    text = f"'{name}' is a tensor of {dtype}, shape {tuple(tensor.shape)}, strides {tuple(tensor.stride())}"
    if first < 0 or last + 1 != tensor.numel():
        text += f"; its storage holds elements {first} to {last}"
    return [f"{text}; the access was to element {outside.index}"]


def _consequence(outside: Outside, severity: str) -> list[str]:
    if outside.violation.site.kind != "load":
        return ["nothing was written out of bounds; the rest of the launch was done"]
    if severity == "error":
        return ["0 was loaded, and the launch went on"]
    return ["0 was loaded, and the launch went on; this place is not reported again"]


def tell_of_overlaps(translation: Translation, memory: Memory) -> None:
    """Warn of tensors that share memory although one of them is written and one is __noalias."""
    if not translation.noalias or not translation.writes:
        return
    dense = [
        extent for extent in memory.extents.values() if extent.tensor is not None and _is_dense(extent.tensor)
    ]
    for first, second in combinations(dense, 2):
        names = {first.parameter.name, second.parameter.name}
        if names & translation.noalias and names & set(translation.writes) and _meet(first, second):
            noalias = next(name for name in sorted(names) if name in translation.noalias)
            other = next(iter(names - {noalias}))
            message = f"{memory.kernel}: '{noalias}' is __noalias, but shares memory with '{other}'"
            cure = "pass a copy, x.clone(), or drop __noalias from the source"
            warn_once(remark(message, "TC552", cure), None, memory.checks.warned)


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether it fills the memory from its first to its last element."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return reach + 1 == tensor.numel()


def _meet(first: Extent, second: Extent) -> bool:
    assert first.tensor is not None
    assert second.tensor is not None
    ends = [extent.start + extent.tensor.nbytes for extent in (first, second) if extent.tensor is not None]
    return first.start < ends[1] and second.start < ends[0]


# Race diagnostics: an error at the user's line, which shows the other line, too.
#
# Input: what ``observers.py`` found. Two programs that touch one element, one of them writing it,
# without an order by atomics (TC553), and two elements of a block that store different values to one address
# (TC554) are errors. Equal values are no more than a note: memory is the same in any order.


Program = tuple[int, int, int]


def number_of(program: Program, grid: Grid) -> int:
    """Programs are numbered as a GPU starts them: the first axis is the fastest."""
    x, y, z = program
    return x + grid[0] * (y + grid[1] * z)


def program_of(number: int, grid: Grid) -> Program:
    width, height, _ = grid
    return number % width, number // width % height, number // (width * height)


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
    """Warn of notes; raise LaunchError for all others."""
    errors = [_of_race(race, memory, grid) for race in races]
    for double in doubles:
        if double.differs:
            errors.append(_of_double(double, memory, grid))
        else:
            warn(_of_double(double, memory, grid))
    refuse(errors, "there are {} more races")


def named(address: int, width: int, roots: Iterable[str], memory: Memory) -> str:
    """An address in the user's terms: ``element 5 of 'z'``. ``roots``: the parameters that it probably came
    from.
    """
    extent = _extent_of(address, roots, memory)
    if extent is None:
        return f"memory at {address:#x}"
    return f"element {(address - extent.start) // width} of '{extent.parameter.name}'"


def _extent_of(address: int, roots: Iterable[str], memory: Memory) -> Extent | None:
    for name in (*roots, *memory.extents):
        extent = memory.extents[name]
        if extent.low <= address < extent.end:
            return extent
    return None


def _named_place(address: int, site: Site, memory: Memory) -> str:
    return named(address, site.width, site.roots or (), memory)


_VERBS = {"load": "loads", "store": "stores to", "atomic": "changes by an atomic"}


def _of_race(race: Race, memory: Memory, grid: Program) -> Diagnostic:
    place = _named_place(race.address, race.site, memory)
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
    place = _named_place(double.address, double.site, memory)
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


# A program that waits forever, and its diagnostic.
#
# On the CPU programs run one after another: what a program waits for must have happened before it began.


class Stuck(Explained):
    """A program came back to where it was, and nothing had changed: ``value`` was read at ``address``."""

    def __init__(self, program: tuple[int, int, int], address: int, value: object, width: int) -> None:
        super().__init__(f"program {program} waits forever")
        self.program = program
        self.address = address
        self.value = value
        self.width = width

    def error(self, where: Span | Source, memory: Memory | None) -> LaunchError:
        """The error for the user, at the line where it waits."""
        place = "a lock" if memory is None else named(self.address, self.width, (), memory)
        reads = f"{place} is {self.value}, and no program is left to change it"
        note = "programs run one after another on the CPU: those before it have ended, those after it wait for it"
        help_ = (
            "fill locks with 0 before a launch, release them on every path (atomic_xchg(lock, 0)), and let no "
            "program wait for what a later one does"
        )
        message = f"program {self.program} waits forever: {reads}"
        finding = Diagnostic("error", "TC555", message, where, (note,), help_)
        return LaunchError(finding.render(), (finding,))


# A grid that was rounded down: the last block of an output has no program.
#
# Nothing of this is outside any tensor, so no other check sees it. It is reported only where nothing else is
# likely: the programs fill an output from its start without a gap, what is left is the end of a contiguous tensor
# and shorter than one block, and no argument indicates that it is left on purpose.


def tell_of_short_grid(sites: Sequence[Site], last: Mapping[int, int], memory: Memory, grid: Grid) -> None:
    """Warn once a place. ``last``: by number of a site, the highest address that it was at."""
    if math.prod(grid) == 1:
        return
    for extent in memory.extents.values():
        stores = [
            number
            for number in last
            if sites[number].kind != "load" and extent.parameter.name in (sites[number].roots or ())
        ]
        if not stores:
            continue
        site = sites[max(stores, key=last.__getitem__)]
        missing = _missing(site, max(last[number] for number in stores), extent, memory, math.prod(grid))
        if missing:
            shown = _of_short_grid(site, missing, extent, memory, grid)
            warn_once(shown, ("short", site.span.source.name, site.span.start), memory.checks.warned)


def _missing(site: Site, last: int, extent: Extent, memory: Memory, programs: int) -> int:
    """How many elements the programs do not store, 0 where that may be intended."""
    block, tensor = math.prod(site.shape), extent.tensor
    if tensor is None or not site.shape or len(site.roots or ()) != 1 or not tensor.is_contiguous():
        return 0
    filled = programs * block
    if last != extent.start + (filled - 1) * site.width or filled in memory.numbers.values():
        return 0
    missing = tensor.numel() - filled
    return missing if 0 < missing < block else 0


def _of_short_grid(site: Site, missing: int, extent: Extent, memory: Memory, grid: Grid) -> Diagnostic:
    name, size = extent.parameter.name, extent.tensor.numel()  # type: ignore[union-attr]
    block = math.prod(site.shape)
    last = (
        f"the last {missing} of its {size} elements are"
        if missing > 1
        else f"the last of its {size} elements is"
    )
    named = next((key for key, value in memory.numbers.items() if value == size), str(size))
    mask = "" if site.masked else f", and mask the block that is then not full: *?(i < {named})(p + i)"
    return Diagnostic(
        "warning",
        "TC556",
        f"no program stores to the end of '{name}': {last} left as before",
        site.span,
        (f"a grid of {grid} with blocks of {block} covers {counted(size - missing, 'element')}",),
        f"round the grid up, pytriton.cdiv({size}, {block}){mask}",
    )
