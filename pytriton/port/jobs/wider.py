"""Define sets that nobody has shown, though all that is in them is known.

A folded kernel has an arm for each known flag, a name for each size, and takes its element types from its tensors.
So it can serve more than what was read or observed. What is proposed here:

* ``completed``: each layout of one operand with each of another.
* ``flipped``: for a flag, the known texts for which it was never given, or always.
* ``paired``: any two facts that no known set has together (fold/known.py).
* ``retyped``: other element types.
* ``turned``: without a flag that all have; a size that is a power of two, or large, where none was.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pytriton.fold.known import Fact, Known
from pytriton.fold.variants import number

__all__ = ["TYPES", "completed", "flipped", "key_of", "paired", "retyped", "turned"]

Defines = Mapping[str, Any]

TYPES: Final = ("half", "float", "bfloat16", "double")
MAX_BASES: Final = 3  # known sets that are changed to have two facts together
MAX_RETYPED: Final = 40  # sets that another type is tried with
MAX_PAIRED: Final = 300
# that may turn the answer to a question
SIZES: Final = (16, 32, 64, 128, 256, 1024, 8, 4, 96, 48, 24, 768, 1, 2, 3, 0)


def key_of(defines: Defines) -> tuple[tuple[str, str], ...]:
    """What is equal for equal define sets."""
    return tuple(sorted((name, repr(value)) for name, value in defines.items() if value is not None))


def retyped(known: Known, sets: Sequence[Defines], word: str) -> list[dict[str, Any]]:
    """Some of the define sets with another word for their types, where all are the same in a set.

    Nothing where other texts go with the types.
    """
    names = [name for name in known.texts if all(defines.get(name) in (*TYPES, None) for defines in sets)]
    known_words = {defines.get(name) for defines in sets for name in names}
    if (
        not names
        or word in known_words
        or any(set(names) < set(table.names) for table in known.served().tables)
    ):
        return []
    seen = set(map(key_of, sets))
    proposed: dict[object, dict[str, Any]] = {}
    for defines in sets[:: max(1, len(sets) // MAX_RETYPED)]:
        if len({defines[name] for name in names if name in defines}) == 1:
            other = {**defines, **{name: word for name in names if name in defines}}
            proposed.setdefault(key_of(other), other)
    return [defines for key, defines in proposed.items() if key not in seen]


def flipped(known: Known, sets: Sequence[Defines]) -> dict[str, list[dict[str, Any]]]:
    """For each flag that goes with texts: the texts with the other answer."""
    texts = [tuple(number(defines.get(name)) for name in known.texts) for defines in sets]
    proposed: dict[str, list[dict[str, Any]]] = {}
    for flag in sorted(known.modes):
        seen = {(known.facts_of(defines)[flag], row) for defines, row in zip(sets, texts, strict=True)}
        for defines, row in zip(sets, texts, strict=True):
            other = not known.facts_of(defines)[flag]
            if (other, row) not in seen:
                seen.add((other, row))
                proposed.setdefault(flag, []).extend(_with(defines, flag, other, known, sets))
    return proposed


def completed(
    known: Known, sets: Sequence[Defines], operands: Mapping[str, frozenset[str]]
) -> list[dict[str, Any]]:
    """Each layout of one operand with each of another, where some are missing. ``operands``: operands.py."""
    proposed = []
    flags = known.modes
    harmless = {name: _given(name, sets) for name in known.harmless}  # some of the texts may need them
    for row in known.completed(sets, operands):
        mode = {name: row[name] for name in flags}
        base = next((d for d in sets if {name: known.facts_of(d)[name] for name in flags} == mode), None)
        if base is None:
            continue  # flags that no set has together
        texts = {name: value for name, value in row.items() if name not in flags and value is not None}
        spelled = {name: _spelled(name, value, sets) for name, value in texts.items()}
        others = {name: value for name, value in base.items() if name not in row or name in flags}
        proposed.append(harmless | others | spelled)
    return proposed


def _given(name: str, sets: Sequence[Defines]) -> object:
    return next(defines[name] for defines in sets if name in defines)


def _spelled(name: str, value: object, sets: Sequence[Defines]) -> object:
    """A define as the sets have it: a number may be given as text."""
    return next(defines[name] for defines in sets if name in defines and number(defines[name]) == value)


def paired(known: Known, sets: Sequence[Defines]) -> list[dict[str, Any]]:
    """For any two facts that are not known together some define sets that have both."""
    chance = random.Random(0)
    facts = [(defines, known.facts_of(defines)) for defines in sets]
    seen = set(map(key_of, sets))
    proposed: dict[object, dict[str, Any]] = {}
    for pair in known.missing:
        for (fact, answer), (other, wanted) in (pair, pair[::-1]):
            bases = [defines for defines, have in facts if have.get(fact) == answer]
            for base in chance.sample(bases, min(len(bases), MAX_BASES)):
                for defines in itertools.islice(_with(base, other, wanted, known, sets), 1):
                    proposed.setdefault(key_of(defines), defines)
    fresh = [defines for key, defines in proposed.items() if key not in seen]
    return fresh[:MAX_PAIRED]


def turned(known: Known, sets: Sequence[Defines], fact: Fact) -> list[dict[str, Any]]:
    """A define set with the other answer to a question; the sets without the flag that all have."""
    if isinstance(fact, str):
        bare = ({name: value for name, value in defines.items() if name != fact} for defines in sets)
        return list({key_of(defines): defines for defines in bare}.values())
    others = (other for d in sets for other in _with(d, fact, not known.facts_of(d).get(fact), known, sets))
    return list(itertools.islice(others, 1))


def _with(
    defines: Defines, fact: Fact, answer: object, known: Known, sets: Sequence[Defines]
) -> Iterator[dict[str, Any]]:
    """The define set with another fact; nothing for texts, which go with each other."""
    if not isinstance(fact, str):
        yield from _answering(defines, fact, answer, known)
    elif fact not in known.texts and answer:
        value = next(other[fact] for other in sets if known.facts_of(other)[fact])
        yield {**defines, fact: value}
    elif fact not in known.texts:
        yield {name: value for name, value in defines.items() if name != fact}


def _answering(defines: Defines, question: Fact, answer: object, known: Known) -> Iterator[dict[str, Any]]:
    """The define set with other numbers, by which a question is answered in this way, and no other in a new way."""
    assert not isinstance(question, str)
    before = known.answers(defines)
    best: tuple[int, dict[str, Any]] | None = None
    for name, size in itertools.product(sorted(known.numbers_of(question)), SIZES):
        if name not in defines and name not in known.optional:
            continue
        other = {**defines, name: size}
        after = known.answers(other)
        if after.get(question) == answer and known.refusal_of_answers(other, question) is None:
            changed = sum(after[asked] != before.get(asked) for asked in after)
            if best is None or changed < best[0]:
                best = changed, other
    if best is not None:
        yield best[1]
