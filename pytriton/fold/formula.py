"""Alternatives -> few conditions that say the same.

A *literal* is a ``Fact``, a question about defines with the answers that it may have, or a ``Comparison`` of
numbers. A *cube* is a set of literals that hold together. Input: cubes, one of which holds. Output: literals that
every cube has, and groups of cubes over other questions; one cube of each group holds.

Invariant: all steps are equivalences of logic. What two comparisons imply of each other is not used, except that
one negates another; and where a shift has no value, neither a comparison of it nor its negation holds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cache, reduce
from math import prod
from typing import Final, NamedTuple

from pytriton.frozen import replace
from pytriton.lang.recording import NEGATED, Comparison, names_in

BOTH: Final = frozenset((False, True))
MAX_ABSORBED: Final = 64  # cubes that are compared with one another


class Fact(NamedTuple):
    """``question``: a flag, ``NAME is not None``, or a define whose value counts. ``answers``: the right ones.

    ``binary``: it is one of the first two, and is answered by True or False.
    """

    question: str
    answers: frozenset[object]
    binary: bool


Literal = Fact | Comparison
Cube = frozenset[Literal]


class Factored(NamedTuple):
    """All ``common`` literals hold, and of each group a cube."""

    common: Cube
    groups: tuple[tuple[Cube, ...], ...]


def factored(cubes: Iterable[Cube]) -> Factored:
    """An equivalent of the alternatives; no cube at all is an empty group."""
    left = set(cubes)
    if not left:
        return Factored(frozenset(), ((),))
    common = reduce(Cube.intersection, left)
    common = frozenset(literal for literal in common if is_total(literal))
    left = _merged({cube - common for cube in left})
    again = reduce(Cube.intersection, left)
    again = frozenset(literal for literal in again if is_total(literal))
    left = {cube - again for cube in left}
    if frozenset[Literal]() in left:
        return Factored(common | again, ())
    return Factored(common | again, tuple(_independent(left)))


def is_total(literal: Literal) -> bool:
    """Whether it has an answer for all integers: nothing shifts or divides."""
    return isinstance(literal, Fact) or not any(map(_is_partial, (literal.left, literal.right)))


def _is_partial(term: object) -> bool:
    if not isinstance(term, tuple):
        return False
    return term[0] in ("<<", ">>", "/", "//", "%") or any(map(_is_partial, term[1:]))


def normal(comparison: Comparison) -> Comparison:
    """A comparison with an integer as ``>=``, ``<=``, ``==`` or ``!=``."""
    number = comparison.right
    if isinstance(number, int) and comparison.holds and comparison.operator in ("<", ">"):
        step = -1 if comparison.operator == "<" else 1
        return replace(comparison, operator=f"{comparison.operator}=", right=number + step)
    return comparison


def negation(literal: Comparison) -> Comparison:
    """The opposite of a normal comparison."""
    if not literal.holds or literal.operator == "is":  # of floats, which may be unordered
        return replace(literal, holds=not literal.holds)
    return normal(replace(literal, operator=_OPPOSITE[literal.operator]))


_OPPOSITE: Final = {**NEGATED, **{opposite: operator for operator, opposite in NEGATED.items()}}


@cache
def question_of(literal: Literal) -> Hashable:
    """What a literal is an answer to."""
    return literal.question if isinstance(literal, Fact) else min((literal, negation(literal)), key=repr)


def names_of(literal: Literal) -> frozenset[str]:
    """The defines that a literal asks for."""
    if isinstance(literal, Fact):
        return frozenset((literal.question.partition(" ")[0],))
    return frozenset((*names_in(literal.left), *names_in(literal.right)))


# ---------------------------------------------------------------- merging


def _merged(cubes: set[Cube]) -> set[Cube]:
    """Cubes that differ in one question as one, as long as there are any; then each without what others cover."""
    questions = sorted({question_of(literal) for cube in cubes for literal in cube}, key=repr)
    count = len(cubes) + 1
    while len(cubes) < count:
        count = len(cubes)
        for question in questions:
            cubes = _joined(cubes, question)
    return _absorbed(sorted(cubes, key=_order)) if len(cubes) <= MAX_ABSORBED else cubes


def _joined(cubes: set[Cube], question: Hashable) -> set[Cube]:
    """Cubes that differ in the answer to a question as one."""
    rests: dict[Cube, list[Literal]] = {}
    joined: set[Cube] = set()
    for cube in cubes:
        answer = next((literal for literal in cube if question_of(literal) == question), None)
        if answer is None:
            joined.add(cube)
        else:
            rests.setdefault(cube - {answer}, []).append(answer)
    for rest, answers in rests.items():
        joined |= {rest | more for more in _any_of(answers)}
    return joined


def _any_of(answers: Sequence[Literal]) -> list[Cube]:
    """One of several answers to one question."""
    facts = [answer for answer in answers if isinstance(answer, Fact)]
    if facts:
        either = frozenset[object]().union(*(fact.answers for fact in facts))
        known = facts[0].binary and either == BOTH
        return [frozenset() if known else frozenset((facts[0]._replace(answers=either),))]
    if len(answers) > 1 and all(map(is_total, answers)):
        return [frozenset()]
    return [frozenset((answer,)) for answer in answers]


def _absorbed(cubes: list[Cube]) -> set[Cube]:
    """Each cube without the literals that it needs only where another cube holds anyway, and none twice."""
    for place, cube in enumerate(cubes):
        for literal in sorted(cube, key=repr):
            rest = cubes[place] - {literal}
            others = (other for other in cubes if other is not cubes[place])
            if not _guards(literal, rest) and any(_covers_opposite(other, literal, rest) for other in others):
                cubes[place] = rest
    return {cube for cube in cubes if not any(other < cube for other in cubes)}


def _covers_opposite(other: Cube, literal: Literal, rest: Cube) -> bool:
    """Whether the rest without the literal is what another cube holds for already."""
    opposite = _opposite(literal)
    return opposite is not None and opposite in other and other - {opposite} <= rest


def _opposite(literal: Literal) -> Literal | None:
    if isinstance(literal, Comparison):
        return negation(literal) if is_total(literal) else None
    return literal._replace(answers=BOTH - literal.answers) if literal.binary else None


def _guards(literal: Literal, rest: Cube) -> bool:
    """Whether others can be asked only where this one holds."""
    names = names_of(literal)
    return any(not isinstance(other, Fact) and names & names_of(other) for other in rest)


def _order(cube: Cube) -> tuple[int, str]:
    return len(cube), repr(sorted(cube, key=repr))


# ---------------------------------------------------------------- independent groups


def _independent(cubes: set[Cube]) -> Iterator[tuple[Cube, ...]]:
    """The cubes as groups that are free of one another; as one group where they are not."""
    groups = _linked(cubes)
    parts = [_projected(cubes, group) for group in groups]
    if prod(map(len, parts)) != len(cubes):
        parts = [cubes]
    yield from (tuple(sorted(part, key=_order)) for part in parts)


def _linked(cubes: set[Cube]) -> list[set[Hashable]]:
    """The questions in groups: two are in one if their answers depend on each other, or one guards the other."""
    names: dict[Hashable, frozenset[str]] = {}
    for cube in cubes:
        names |= {question_of(literal): names_of(literal) for literal in cube}
    groups: list[set[Hashable]] = []
    for question in names:
        joined = {question}
        for group in [*groups]:
            if any(names[question] & names[other] or not _free(cubes, question, other) for other in group):
                groups.remove(group)
                joined |= group
        groups.append(joined)
    return groups


def _free(cubes: set[Cube], first: Hashable, second: Hashable) -> bool:
    both = len(_projected(cubes, {first, second}))
    return both == len(_projected(cubes, {first})) * len(_projected(cubes, {second}))


def _projected(cubes: Iterable[Cube], questions: set[Hashable]) -> set[Cube]:
    return {frozenset(one for one in cube if question_of(one) in questions) for cube in cubes}
