"""Define sets that nobody has shown, though all that is in them is known: flags combined, and other element types.

A folded kernel has an arm for each known flag, and takes its element types from its tensors. So it often serves
more than what was read or observed. What is proposed here is taken only if the folded kernel is the same with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

__all__ = ["combined", "key_of", "retyped"]

Defines = Mapping[str, Any]

TYPES: Final = ("half", "float", "bfloat16", "double")
MAX_ROWS: Final = 4096  # combinations of flags that are looked at
MAX_COMBINED: Final = 100


def key_of(defines: Defines) -> tuple[tuple[str, str], ...]:
    """What is equal for equal define sets."""
    return tuple(sorted((name, repr(value)) for name, value in defines.items() if value is not None))


def combined(known: Sequence[Defines]) -> list[dict[str, Any]]:
    """Other combinations of the flags, with what goes with them.

    Any two flags or texts of a combination are known to be given together.
    """
    names = list(dict.fromkeys(name for defines in known for name in defines))
    values = {name: [defines.get(name) for defines in known] for name in names}
    flags = [
        name for name in names if all(value is None or isinstance(value, bool) for value in values[name])
    ]
    asked = [*flags] + [
        name for name in names if name not in flags and any(isinstance(value, str) for value in values[name])
    ]
    pairs = {pair for defines in known for pair in _pairs(defines, asked)}
    others = {key_of(rest): rest for rest in ({**defines, **dict.fromkeys(flags)} for defines in known)}
    rows = list(
        itertools.islice(itertools.product(*(dict.fromkeys(values[flag]) for flag in flags)), MAX_ROWS)
    )
    seen = set(map(key_of, known))
    proposed: list[dict[str, Any]] = []
    for rest, row in itertools.product(others.values(), rows):
        given = {**rest, **dict(zip(flags, row, strict=True))}
        defines = {name: value for name, value in given.items() if value is not None}
        if key_of(defines) not in seen and pairs.issuperset(_pairs(defines, asked)):
            proposed.append(defines)
    return proposed if len(proposed) <= MAX_COMBINED else []


def _pairs(defines: Defines, names: Sequence[str]) -> Iterator[object]:
    """Any two of the defines with their values."""
    return itertools.combinations([(name, defines.get(name)) for name in names], 2)


def retyped(known: Sequence[Defines], word: str) -> list[dict[str, Any]]:
    """The define sets with another word for their types: for all that are the same in a set."""
    names = {
        name
        for name in {name for defines in known for name in defines}
        if all(defines.get(name) in (*TYPES, None) for defines in known)
    }
    seen = set(map(key_of, known))
    proposed: dict[object, dict[str, Any]] = {}
    for defines in known:
        if len({defines[name] for name in names if name in defines}) == 1:
            other = {**defines, **{name: word for name in names if name in defines}}
            proposed.setdefault(key_of(other), other)
    return [defines for key, defines in proposed.items() if key not in seen]
