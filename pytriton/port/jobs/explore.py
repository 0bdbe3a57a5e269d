"""Define sets that no run has shown, to be translated, folded and proved as those that one has shown.

A folded kernel accepts the define sets of its leaves, and nothing else (fold/leaves.py). So each known set is
varied along one *axis* after the other. Element types are the first, so that all that follows is tried for each of
them; then a flag is given or not, texts that go together are those of another set, a number that the kernel
compares with 1 is 1 or not, a number is that of another set, and an ``#ifdef`` that no set gives is given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from pytriton.fold.leaves import Leaves
from pytriton.lang.recording import Comparison
from pytriton.port.jobs.translations import Defines, key_of

TYPES: Final = ("half", "float", "bfloat16", "double")


class Alternatives(NamedTuple):
    """Defines that vary together, and what they may be: each row has those of them that are given.

    ``alike``: only where the kernel then compares no element types that it did not compare before. ``given``: only
    of sets that have them.
    """

    names: Sequence[str]
    rows: Sequence[Defines]
    alike: bool = False
    given: bool = False

    def varied(self, leaves: Leaves, sets: Sequence[Defines], count: int | None) -> list[dict[str, Any]]:
        """The first ``count`` of the sets with each row in turn, where that is a new leaf; each leaf once."""

        def place(defines: Defines) -> object:
            fresh = ((name, repr(defines.get(name))) for name in self.names if name in leaves.closed)
            return leaves.place(defines), *fresh

        reached = set(map(place, sets))
        varied: dict[object, dict[str, Any]] = {}
        for defines in sets[:count]:
            if self.given and not defines.keys() >= {*self.names}:
                continue
            others = {name: value for name, value in defines.items() if name not in self.names}
            for row in self.rows:
                other = {**others, **row}
                varied.setdefault(place(other), other)
        return [defines for where, defines in varied.items() if where not in reached]


def axes(leaves: Leaves, sets: Sequence[Defines], switches: Sequence[str]) -> Iterator[Alternatives]:
    """The axes of these sets, and of the ``switches`` that none of them gives."""
    typed = [name for name in leaves.texts if all(defines.get(name) in (*TYPES, None) for defines in sets)]
    if typed and not any(_together(sets, typed[0], text) for text in leaves.texts if text not in typed):
        # at once, or one by one without those that are not alike
        for words in (TYPES, TYPES[:3], *zip(TYPES)):
            rows = [dict.fromkeys(row, word) for row in _rows(sets, typed) for word in words]
            yield Alternatives(typed, rows, alike=True)
    yield from (_of_flag(flag, sets) for flag in leaves.flags)
    groups: list[list[str]] = []
    for text in leaves.texts:
        together = (group for group in groups if _together(sets, group[0], text))
        if (group := next(together, None)) is not None:
            group.append(text)
        else:
            groups.append([text])
    yield from (Alternatives(group, _rows(sets, group)) for group in groups)
    yield from _of_numbers(leaves, sets)
    yield from (Alternatives([switch], [{switch: True}]) for switch in switches)


def _of_flag(flag: str, sets: Sequence[Defines]) -> Alternatives:
    """A flag, given as in the sets; not given, it is False or absent as there."""
    values = [defines[flag] for defines in sets if flag in defines]
    given = next((value for value in values if value is not None and value is not False), True)
    without = {flag: False} if False in values and len(values) == len(sets) else {}
    return Alternatives([flag], [{flag: given}, without])


def _of_numbers(leaves: Leaves, sets: Sequence[Defines]) -> Iterator[Alternatives]:
    """Each number that a leaf compares for equality: this number, and another one; each number of other sets."""
    for comparison in leaves.outcomes(sets[0]):
        match comparison:
            case Comparison(operator="==" | "!=", left=str(name), right=int(number)) if (
                name in leaves.integers
            ):
                yield Alternatives([name], [{name: number}, {name: 0 if number else 1}], given=True)
    for name in leaves.integers:
        yield Alternatives([name], [row for row in _rows(sets, [name]) if row], given=True)


def _rows(sets: Sequence[Defines], names: Sequence[str]) -> list[Defines]:
    """What the sets have of some defines, each once."""
    rows = ({name: defines[name] for name in names if name in defines} for defines in sets)
    return [*{key_of(row): row for row in rows}.values()]


def _together(sets: Sequence[Defines], text: str, other: str) -> bool:
    """Whether the values of one of two defines determine those of the other: a type and its infinity."""
    pairs = {(repr(defines.get(text)), repr(defines.get(other))) for defines in sets}
    counts = [len(set(values)) for values in zip(*pairs, strict=True)]
    return min(counts) > 1 and max(counts) == len(pairs)
