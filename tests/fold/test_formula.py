"""Alternatives in fewer conditions: for every assignment the same answer, and short where that is possible."""

from __future__ import annotations

import itertools
import random

import pytest

from pytriton.fold.formula import (
    Cube,
    Fact,
    Factored,
    Literal,
    comparisons_of,
    factored,
    negation,
    normal,
    ranged,
)
from pytriton.lang.conditions import holds
from pytriton.lang.recording import Comparison

FLAGS = ("F", "G")
TEXTS = {"A": "ab", "B": "ab", "C": (1, 2, None)}
COMPARISONS = (
    Comparison(">", "N", 3),
    Comparison("<", "N", 6),
    Comparison("==", "N", 7),
    Comparison("is_power_of_2", "M"),
    Comparison("<", ("<<", 1, "M"), 200),
)
ASSIGNMENTS = [
    dict(zip(("F", "G", "A", "B", "C", "N", "M"), row, strict=True))
    for row in itertools.product(
        (False, True), (False, True), *TEXTS.values(), (-1, 3, 4, 7), (-2, 1, 3, 4, 64, 5_000)
    )
]


def flag(name: str, answer: bool) -> Fact:
    return Fact(name, frozenset((answer,)), True)


def text(name: str, *answers: object) -> Fact:
    return Fact(name, frozenset(answers), False)


def satisfied(literal: Literal, values: dict[str, object]) -> bool:
    if isinstance(literal, Fact):
        return values[literal.question] in literal.answers
    numbers = {name: value for name, value in values.items() if isinstance(value, int)}
    return all(holds(comparison, numbers) for comparison in comparisons_of(literal))


def any_of(cubes: list[Cube], values: dict[str, object]) -> bool:
    return any(all(satisfied(literal, values) for literal in cube) for cube in cubes)


def says(formula: Factored, values: dict[str, object]) -> bool:
    return any_of([formula.common], values) and all(
        any(says(way, values) for way in group) for group in formula.groups
    )


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(2)
def test_the_formula_is_its_cubes(seed: int) -> None:
    chance = random.Random(seed)

    def literal() -> Literal:
        kind = chance.choice((*FLAGS, *TEXTS, *COMPARISONS))
        if isinstance(kind, Comparison):
            return chance.choice((normal(kind), negation(normal(kind))))
        return flag(kind, chance.random() < 0.5) if kind in FLAGS else text(kind, chance.choice(TEXTS[kind]))

    cubes = [ranged(literal() for _ in range(chance.randint(1, 5))) for _ in range(chance.randint(1, 12))]
    formula = factored(cubes)
    for values in ASSIGNMENTS:
        assert says(formula, values) == any_of(cubes, values), values


def test_no_alternative_is_never() -> None:
    assert not any(says(factored([]), values) for values in ASSIGNMENTS)


def test_what_all_combinations_have_is_not_asked() -> None:
    bound = Comparison(">=", "N", 4)
    cubes = [
        frozenset((flag("F", f), flag("G", g), text("A", a), bound))
        for f, g, a in itertools.product((False, True), (False, True), "ab")
    ]
    assert factored(map(ranged, cubes)) == Factored(frozenset((text("A", "a", "b"), *ranged([bound]))))


def test_both_sides_of_a_bound_are_everything() -> None:
    inside = frozenset((Comparison(">=", "D", 97), Comparison("<=", "D", 127)))
    cubes = [frozenset((Comparison("<=", "D", 96),)), inside]
    cubes.append(frozenset((Comparison(">=", "D", 97), Comparison(">=", "D", 128))))
    assert factored(map(ranged, cubes)) == Factored(frozenset())


def test_layouts_of_two_operands_are_two_groups() -> None:
    layouts = {"n": ("TM, TK", "a", "lda"), "t": ("TK, TM", "^a", "1")}
    cubes = [
        frozenset(text(f"{name}_{operand}", value) for operand in "AB" for name, value in sides[operand])
        for sides in (
            {"A": zip(("SHAPE", "USE", "STRIDE"), layouts[a], strict=True),
             "B": zip(("SHAPE", "USE", "STRIDE"), layouts[b], strict=True)}
            for a, b in itertools.product("nt", repeat=2)
        )
    ]  # fmt: skip
    common, groups = factored(cubes)
    assert not common
    assert sorted(map(len, groups)) == [2, 2]


def test_a_flag_that_needs_another() -> None:
    cubes = [
        frozenset((flag("F", f), flag("G", g))) for f, g in ((False, False), (True, False), (True, True))
    ]
    without, with_both = (flag("G", False),), (flag("F", True), flag("G", True))
    ways = (Factored(frozenset(way)) for way in (without, with_both))  # leaves.py prints "not G or F"
    assert factored(cubes) == Factored(frozenset(), frozenset((frozenset(ways),)))


def test_what_only_some_alternatives_share_is_said_once() -> None:
    """Of an operand that lies along rows all types were proved, of one that lies along columns only one."""
    cubes = [
        frozenset((text("LAYOUT", layout), flag("F", f), text("T", t)))
        for layout, f, t in (
            ("rows", False, "half"), ("rows", False, "float"), ("rows", True, "half"), ("rows", True, "float"),
            ("columns", True, "half"), ("rows", True, "double"),
        )
    ]  # fmt: skip

    def literals(formula: Factored) -> int:
        return len(formula.common) + sum(literals(way) for group in formula.groups for way in group)

    assert sum(map(len, cubes)) == 18
    assert literals(factored(cubes)) == 7


def test_all_but_one_number_and_that_number() -> None:
    inside = [Comparison(">=", "N", -9), Comparison("<=", "N", 9)]
    cubes = [ranged([*inside, Comparison("!=", "M", 1)]), ranged([*inside, Comparison("==", "M", 1)])]
    assert factored(cubes) == Factored(ranged(inside))
    assert factored([*cubes, ranged([*inside, Comparison("!=", "M", 2)])]) == Factored(ranged(inside))
