"""What accesses outside are to the user: a warning for a load, a LaunchError for a store or an atomic.

Input: the violations of a launch, by site. The text is a diagnostic at the user's own line, with the program, the
element of the block, the tensor, how far outside it was, and the likely cure (cures.py). A load is told of once a
place in the text; under ``"strict"`` it raises as a store does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

import torch

from pytriton.errors import Diagnostic, LaunchError, counted
from pytriton.pipeline import Translation
from pytriton.runtime.checks.cures import cure_of
from pytriton.runtime.checks.memory import Extent, Memory
from pytriton.runtime.checks.violation import Outside, Violation
from pytriton.runtime.errors import headline, warn

__all__ = ["findings", "refuse", "tell", "tell_of_overlaps"]

Grid = tuple[int, int, int]

MAX_DIAGNOSTICS: Final = 4  # in one error


def tell(found: Mapping[int, Violation], memory: Memory, grid: Grid) -> None:
    """Warn of loads; raise LaunchError if a store or an atomic was outside, or anything if that is strict."""
    errors: list[Violation] = []
    for violation in _by_place(found):
        place = _place_of(violation)
        if violation.site.kind != "load" or memory.checks.strict:
            errors.append(violation)
        elif place not in memory.checks.told:
            memory.checks.told.add(place)
            warn(_diagnostic(Outside(violation, memory, grid), "warning").render())
    refuse(
        [_diagnostic(Outside(error, memory, grid), "error") for error in errors],
        "{} more accesses are out of bounds",
    )


def refuse(errors: Sequence[Diagnostic], rest: str) -> None:
    """Raise LaunchError for these, if there are any; ``rest`` says how many are not shown."""
    shown = [error.render() for error in errors[:MAX_DIAGNOSTICS]]
    if len(errors) > MAX_DIAGNOSTICS:
        shown.append(f"note: {rest.format(len(errors) - MAX_DIAGNOSTICS)}")
    if shown:
        raise LaunchError("\n\n".join(shown))


def findings(found: Mapping[int, Violation], memory: Memory, grid: Grid) -> list[Diagnostic]:
    """All that was found, for who wants to hear of it and go on."""
    return [
        _diagnostic(Outside(violation, memory, grid), "error" if violation.site.kind != "load" else "warning")
        for violation in _by_place(found)
    ]


def _by_place(found: Mapping[int, Violation]) -> Iterable[Violation]:
    """The violations, one for each place: a loop may have been split, and its parts are one place."""
    by_place: dict[object, Violation] = {}
    for violation in found.values():
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
    """Where it went: ``outside 'y': 24 elements past the end``."""
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
    if not translation.apart or not translation.writes:
        return
    dense = [each for each in memory.extents.values() if each.tensor is not None and _is_dense(each.tensor)]
    for first, second in combinations(dense, 2):
        names = {first.parameter.name, second.parameter.name}
        if names & translation.apart and names & set(translation.writes) and _meet(first, second):
            apart = next(name for name in sorted(names) if name in translation.apart)
            other = next(iter(names - {apart}))
            message = f"{memory.kernel}: '{apart}' is __noalias, but shares memory with '{other}'"
            if message not in memory.checks.told:
                memory.checks.told.add(message)
                warn(headline(message, "TC552", "pass a copy, x.clone(), or drop __noalias from the source"))


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether it fills the memory from its first to its last element."""
    reach = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return reach + 1 == tensor.numel()


def _meet(first: Extent, second: Extent) -> bool:
    assert first.tensor is not None
    assert second.tensor is not None
    ends = [extent.start + extent.tensor.nbytes for extent in (first, second) if extent.tensor is not None]
    return first.start < ends[1] and second.start < ends[0]
