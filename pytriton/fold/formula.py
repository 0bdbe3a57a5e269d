"""Alternatives -> few conditions that say the same.

A *literal* is a ``Fact``, a question about defines with the answers that it may have, an ``Interval`` of an integer
term, or any other ``Comparison`` of numbers. A *cube* is a set of literals that hold together. Input: cubes, one of
which holds. Output: literals that every cube has, and groups of alternatives over other questions; of each
group one holds. An alternative has the same form.

Invariant: all steps are equivalences of logic. What two comparisons imply of each other is not used, except that
one negates another; and where a shift has no value, neither a comparison of it nor its negation holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, reduce
from typing import Final, NamedTuple

from pytriton.frozen import replace
from pytriton.lang.conditions import holds
from pytriton.lang.recording import NEGATED, Comparison, Term, names_in, polynomial

BOTH: Final = frozenset((False, True))


class Fact(NamedTuple):
    """``question``: a flag, ``NAME is not None``, or a define whose value counts. ``answers``: the right ones.

    ``binary``: it is one of the first two, and is answered by True or False.
    """

    question: str
    answers: frozenset[object]
    binary: bool


class Interval(NamedTuple):
    """The least and the greatest value of a term of integers; None: no bound."""

    term: Term
    low: int | None
    high: int | None


Literal = Fact | Interval | Comparison
Cube = frozenset[Literal]


class Factored(NamedTuple):
    """All ``common`` literals hold, and of each group an alternative."""

    common: Cube
    groups: frozenset[frozenset[Factored]] = frozenset()


def factored(cubes: Iterable[Cube]) -> Factored:
    """An equivalent of the alternatives; no cube at all is an empty group."""
    cubes = _united(set(cubes))
    shared = _shared(cubes)
    rests = {cube - shared for cube in cubes}
    if Cube() in rests:
        return Factored(shared)
    ways = [*map(factored, _split(rests))] if len(rests) > 1 else [*map(Factored, rests)]
    groups = frozenset(group for way in ways[:1] for group in way.groups if _is_common(group, ways))
    left = frozenset(way._replace(groups=way.groups - groups) for way in ways)
    return Factored(shared, groups if Factored(frozenset()) in left else groups | {left})


def _is_common(group: frozenset[Factored], ways: Iterable[Factored]) -> bool:
    """Whether all ways have a group, and it asks for other defines than all else in them."""
    rests = [way._replace(groups=way.groups - {group}) for way in ways]
    return all(group in way.groups for way in ways) and _names_in(group).isdisjoint(_names_in(rests))


def _names_in(ways: Iterable[Factored]) -> set[str]:
    """The defines that are asked for."""
    names = {name for way in ways for literal in way.common for name in names_of(literal)}
    return names.union(*(_names_in(group) for way in ways for group in way.groups))


def _split(cubes: set[Cube]) -> list[set[Cube]]:
    """Cubes that share nothing, by their answers to the question that leaves the least of them."""
    questions = {question_of(literal) for cube in cubes for literal in cube}
    ways = [[*_answers(cubes, question).values()] for question in sorted(questions, key=repr)]
    return min(
        (way for way in ways if 1 < len(way) < len(cubes)), key=_length, default=[{cube} for cube in cubes]
    )


def _answers(cubes: set[Cube], question: Hashable) -> dict[Cube, set[Cube]]:
    """The cubes by what they say to a question."""
    parts: dict[Cube, set[Cube]] = {}
    for cube in cubes:
        answer = frozenset(literal for literal in cube if question_of(literal) == question)
        parts.setdefault(answer, set()).add(cube)
    return parts


def _length(parts: Iterable[set[Cube]]) -> int:
    """How many literals the parts have, those that are common to a part once."""
    shared = [(part, len(_shared(part))) for part in parts]
    return sum(count + sum(len(cube) - count for cube in part) for part, count in shared)


def _shared(cubes: set[Cube]) -> Cube:
    """The literals of all cubes, less those that have an answer only where others hold."""
    shared = reduce(Cube.intersection, cubes) if cubes else Cube()
    return frozenset(literal for literal in shared if is_total(literal))


def comparisons_of(literal: Literal) -> list[Comparison]:
    """A literal as comparisons; none for a fact."""
    match literal:
        case Interval(term, low, high) if low == high and low is not None:
            return [Comparison("==", term, low)]
        case Interval(term, low, high):
            bounds = ((">=", low), ("<=", high))
            return [Comparison(sign, term, bound) for sign, bound in bounds if bound is not None]
        case Fact():
            return []
    return [literal]


def ranged(literals: Iterable[Literal]) -> Cube:
    """A cube with one range for all bounds of a term."""
    ranges: dict[Term, Interval] = {}
    others: list[Literal] = []
    excluded: list[tuple[int, Comparison]] = []
    for literal in literals:
        match literal:
            case Comparison(operator=">=" | "<=" | "==" as sign, left=term, right=int(bound), holds=True):
                low, high = (bound if sign != other else None for other in ("<=", ">="))
                before = ranges.get(term, Interval(term, None, None))
                ranges[term] = Interval(term, _most(max, before.low, low), _most(min, before.high, high))
            case Comparison(operator="!=", right=int(value), holds=True):
                excluded.append((value, literal))
            case _:
                others.append(literal)
    for value, literal in sorted(excluded, key=lambda pair: pair[0]):
        bounds = ranges.get(literal.left, Interval(literal.left, None, None))
        if value == bounds.low:
            ranges[literal.left] = bounds._replace(low=value + 1)
        elif _contains(bounds, value):
            others.append(literal)
    return frozenset((*others, *ranges.values()))


def _most(pick: Callable[..., int], *bounds: int | None) -> int | None:
    given = [bound for bound in bounds if bound is not None]
    return pick(given) if given else None


def is_total(literal: Literal) -> bool:
    """Whether it has an answer for all integers: nothing shifts or divides."""
    return not any(
        _is_partial(comparison.left) or _is_partial(comparison.right)
        for comparison in comparisons_of(literal)
    )


def _is_partial(term: object) -> bool:
    if not isinstance(term, tuple):
        return False
    return term[0] in ("<<", ">>", "/", "//", "%") or any(map(_is_partial, term[1:]))


def normal(comparison: Comparison) -> Comparison:
    """A comparison of integers as ``>=``, ``<=``, ``==`` or ``!=``; of a product with a number where it is one."""
    sign, left, right = comparison.operator, comparison.left, comparison.right
    if sign not in _MIRRORED or is_floating(comparison):
        return comparison
    products = polynomial(("-", left, right))
    number = -products.pop((), 0)
    if len(products) == 1 and abs(factor := next(iter(products.values()))) == 1:
        left, right = _product(next(iter(products))), factor * number
        sign = sign if factor > 0 else _MIRRORED[sign]
    if isinstance(right, int) and sign in ("<", ">"):
        sign, right = f"{sign}=", right + (1 if sign == ">" else -1)
    return Comparison(sign, left, right)


_MIRRORED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


def _product(factors: tuple[Term, ...]) -> Term:
    return reduce(lambda left, right: ("*", left, right), factors)


def negation(literal: Comparison) -> Comparison:
    """The opposite of a normal comparison."""
    if literal.operator == "is" or is_floating(literal):
        return replace(literal, holds=not literal.holds)
    return normal(replace(literal, operator=OPPOSITE[literal.operator]))


def is_floating(literal: Comparison) -> bool:
    """Whether floating numbers are compared, which may be unordered: with ``("float", ...)``."""
    return not literal.holds or any(map(_has_float, (literal.left, literal.right)))


def _has_float(term: Term) -> bool:
    return isinstance(term, tuple) and (term[0] == "float" or any(map(_has_float, term[1:])))


OPPOSITE: Final = {**NEGATED, **{opposite: operator for operator, opposite in NEGATED.items()}}


@cache
def question_of(literal: Literal) -> Hashable:
    """What a literal is an answer to."""
    match literal:
        case Fact(question):
            return question
        case Interval(term) | Comparison(operator="!=", left=term, right=int()):
            return "range", term
    return min((literal, negation(literal)), key=repr)


@cache
def names_of(literal: Literal) -> frozenset[str]:
    """The defines that a literal asks for."""
    if isinstance(literal, Fact):
        return frozenset((literal.question.partition(" ")[0],))
    terms = (term for comparison in comparisons_of(literal) for term in (comparison.left, comparison.right))
    return frozenset(name for term in terms for name in names_in(term))


# ---------------------------------------------------------------- merging


def _united(cubes: set[Cube]) -> set[Cube]:
    """Cubes that differ in one question as one, as long as there are any."""
    questions = sorted({question_of(literal) for cube in cubes for literal in cube}, key=_by_kind)
    count = len(cubes) + 1
    while len(cubes) < count:
        count = len(cubes)
        for question in questions:
            cubes = _joined(cubes, question)
    return cubes


def _by_kind(question: Hashable) -> tuple[bool, str]:
    """Questions with two answers come first."""
    return isinstance(question, str) and " " not in question, repr(question)


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
        always = facts[0].binary and either == BOTH
        return [frozenset() if always else frozenset((facts[0]._replace(answers=either),))]
    ranges = [answer for answer in answers if isinstance(answer, Interval)]
    if ranges and len(ranges) == len(answers):
        return [
            frozenset((interval,)) if interval[1:] != (None, None) else frozenset()
            for interval in _unions(ranges)
        ]
    others = [answer for answer in answers if isinstance(answer, Comparison)]
    if len(answers) > 1 and all(map(is_total, answers)):  # two opposites, or all but a number and that number
        always = len(others) > 1 or any(_contains(interval, others[0].right) for interval in ranges)
        return [frozenset(() if always else others)]
    return [frozenset((answer,)) for answer in answers]


def _contains(values: Interval, value: Term) -> bool:
    assert isinstance(value, int)
    return (values.low is None or values.low <= value) and (values.high is None or value <= values.high)


def _unions(ranges: list[Interval]) -> list[Interval]:
    """The ranges of one term, those that touch as one."""
    joined: list[Interval] = []
    for interval in sorted(ranges, key=lambda interval: (interval.low is not None, interval.low or 0)):
        last = joined[-1] if joined else None
        if last is not None and (last.high is None or interval.low is None or interval.low <= last.high + 1):
            high = None if last.high is None or interval.high is None else max(last.high, interval.high)
            joined[-1] = last._replace(high=high)
        else:
            joined.append(interval)
    return joined


def is_satisfied(literal: Interval | Comparison, numbers: Mapping[str, int | float]) -> bool:
    """Whether a literal holds for these numbers; not if it asks for others."""
    return names_of(literal) <= numbers.keys() and all(
        holds(comparison, numbers) for comparison in comparisons_of(literal)
    )
