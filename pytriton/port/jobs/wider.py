"""Define sets that no run has shown, to be translated, folded and proved as those that one has shown.

A folded kernel accepts the define sets of its leaves, and nothing else (fold/leaves.py). So each set here is tried:

* ``combined``: every combination of the flags, sizes and texts of the known sets, and with them the flags of an
  ``#ifdef`` that no set gives.
* ``retyped``: other element types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from pytriton.fold.leaves import Leaves
from pytriton.port.jobs.translations import Defines, key_of

TYPES: Final = ("half", "float", "bfloat16", "double")
MAX_RETYPED: Final = 40  # sets that another type is tried with


def combined(
    leaves: Leaves,
    sets: Sequence[Defines],
    fresh: Sequence[str],
    accepts: Callable[[Defines], bool],
    limit: int,
) -> list[dict[str, Any]]:
    """The product of what is in the sets, and of the ``fresh`` flags, axis by axis: at most ``limit`` more sets.

    An axis is a flag, all numbers, or texts that determine each other. One that would exceed the limit is left out
    as a whole, so that what is accepted is a product. ``accepts``: whether a set can be translated.
    """
    groups: dict[object, list[str]] = {}
    for text in leaves.texts:
        alike = (key for key, names in groups.items() if _together(sets, names[0], text))
        groups.setdefault(next(alike, text), []).append(text)
    texts = [(names, _distinct(sets, names)) for names in groups.values()]
    numbers: dict[object, dict[str, Any]] = {}
    for defines, chosen in zip(sets, _distinct_all(sets, leaves.numbers), strict=True):
        numbers.setdefault(tuple(leaves.outcomes(defines).values()), chosen)
    values: dict[str, Any] = {
        flag: next((d[flag] for d in sets if d.get(flag) not in (None, False)), True) for flag in leaves.flags
    }
    absent = {flag: _absent(flag, sets) for flag in leaves.flags}

    def toggled(flag: str, defines: Defines) -> list[dict[str, Any]]:
        bare = {name: other for name, other in defines.items() if name != flag}
        present = defines.get(flag) not in (None, False)
        return [bare | absent.get(flag, {}) if present else {**bare, flag: values.get(flag, True)}]

    def replaced(names: Sequence[str], rows: Sequence[Defines], defines: Defines) -> list[dict[str, Any]]:
        others = {name: value for name, value in defines.items() if name not in names}
        return [{**others, **row} for row in rows]

    axes: list[Callable[[Defines], list[dict[str, Any]]]] = [partial(toggled, flag) for flag in leaves.flags]
    axes += [
        partial(replaced, names, rows) for names, rows in (*texts, (leaves.numbers, [*numbers.values()]))
    ]
    axes += [partial(toggled, flag) for flag in fresh]
    return _product(
        sets,
        axes,
        lambda defines: (leaves.place(defines), *(name in defines for name in fresh)),
        accepts,
        limit,
    )


def _product(
    sets: Sequence[Defines],
    axes: Iterable[Callable[[Defines], Sequence[dict[str, Any]]]],
    place_of: Callable[[Defines], object],
    accepts: Callable[[Defines], bool],
    limit: int,
) -> list[dict[str, Any]]:
    """The sets that the axes add, each place once; a set that is not accepted is varied, but not returned."""
    reached: dict[object, Defines] = {place_of(defines): defines for defines in sets}
    proposed: list[dict[str, Any]] = []
    for axis in axes:
        beyond = {place_of(other): other for defines in reached.values() for other in axis(defines)}
        fresh = {place: other for place, other in beyond.items() if place not in reached}
        if len(reached) - len(sets) + len(fresh) <= limit:
            reached |= fresh
            proposed += filter(accepts, fresh.values())
    return proposed


def _together(sets: Sequence[Defines], text: str, other: str) -> bool:
    """Whether the values of two defines determine each other: a type and its infinity."""
    pairs = {(repr(defines.get(text)), repr(defines.get(other))) for defines in sets}
    return 1 < len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})


def _absent(flag: str, sets: Sequence[Defines]) -> dict[str, Any]:
    """A flag that is not set: False or absent, as in the sets."""
    values = [defines[flag] for defines in sets if flag in defines]
    return {flag: False} if len(values) == len(sets) and False in values else {}


def _distinct_all(sets: Sequence[Defines], names: Sequence[str]) -> list[dict[str, Any]]:
    return [{name: defines[name] for name in names if name in defines} for defines in sets]


def _distinct(sets: Sequence[Defines], names: Sequence[str]) -> list[dict[str, Any]]:
    return list({key_of(row): row for row in _distinct_all(sets, names)}.values())


def retyped(leaves: Leaves, sets: Sequence[Defines], word: str) -> list[dict[str, Any]]:
    """Some of the define sets with another word for their types, where all are the same in a set.

    Nothing where other texts go with the types.
    """
    names = [name for name in leaves.texts if all(defines.get(name) in (*TYPES, None) for defines in sets)]
    known_words = {defines.get(name) for defines in sets for name in names}
    others = [text for text in leaves.texts if text not in names]
    if not names or word in known_words or any(_together(sets, names[0], other) for other in others):
        return []
    seen = set(map(key_of, sets))
    proposed: dict[object, dict[str, Any]] = {}
    for defines in sets[:: max(1, len(sets) // MAX_RETYPED)]:
        if len({defines[name] for name in names if name in defines}) == 1:
            other = {**defines, **{name: word for name in names if name in defines}}
            proposed.setdefault(key_of(other), other)
    return [defines for key, defines in proposed.items() if key not in seen]
