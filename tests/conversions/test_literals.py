"""Literals and defines as operands: the type each has, and weak floating literals.

An integer literal has the first of C's types that holds it (C11 6.4.4.1). An unsuffixed floating literal is
weak: it takes the type of the floating operand it meets and is float beside an integer; with
``strict_literals=True`` it is a double as in C. A define stands for its tokens.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from tests.conversions.c_arithmetic import binary, operators_for, select, spell, unary
from tests.conversions.c_types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    TYPES,
    UINT,
    ULONG,
    CType,
    Value,
    convert,
    rounded,
)
from tests.conversions.probes import Input, Part, Probe, check, check_together, thinned
from tests.conversions.samples import FEW

SIZE = 16


@dataclass(frozen=True)
class Literal:
    """A constant's text, its value, and its type: None for a weak one."""

    text: str
    value: int | float
    kind: CType | None

    def beside(self, other: CType, strict: bool = False) -> CType:
        """The type it has as an operand beside another."""
        if self.kind is not None:
            return self.kind
        return DOUBLE if strict else other if other.floating else FLOAT


INTEGER_LITERALS = [
    *(Literal(text, int(text), INT) for text in ("7", "100000", "-1")),
    *(Literal("'a'", 97, INT), Literal("-2147483648", -(2**31), LONG), Literal("2147483648", 2**31, LONG)),
    *(Literal("-6L", -6, LONG), Literal("0xffffffff", 2**32 - 1, UINT), Literal("3u", 3, UINT)),
    *(Literal("9ul", 9, ULONG), Literal("0xfffffffffffffff0", 2**64 - 16, ULONG)),
]
MORE_INTEGER_LITERALS = [
    *(
        Literal("1", 1, INT),
        Literal("-3", -3, INT),
        Literal("0x7fffffff", 2**31 - 1, INT),
        Literal("017", 15, INT),
    ),
    *(Literal("0b101", 5, INT), Literal("5l", 5, LONG), Literal("0x100000000", 2**32, LONG)),
    *(Literal("-9223372036854775807", 1 - 2**63, LONG), Literal("4294967290U", 2**32 - 6, UINT)),
    *(Literal("4294967296u", 2**32, ULONG), Literal("-2u", 2**32 - 2, UINT)),
]
WEAK_LITERALS = [Literal(text, float(text), None) for text in ("0.1", "-.5", "1e5", "1e-8")]
FLOAT_LITERALS = [Literal("0.1f", rounded(0.1, FLOAT), FLOAT), Literal("-1e5F", -1e5, FLOAT)]
LITERALS = INTEGER_LITERALS + WEAK_LITERALS + FLOAT_LITERALS[:1]
# What is given for a define, and the literal that it stands for.
DEFINES: list[tuple[Any, Literal]] = [
    (1, Literal("ONE", 1, INT)),
    (7, Literal("SEVEN", 7, INT)),
    (-3, Literal("MINUS_THREE", -3, INT)),
    (2**32 + 3, Literal("WIDE", 2**32 + 3, LONG)),
    ("-12", Literal("TEXT_OF_A_NUMBER", -12, INT)),
    ("4000000000u", Literal("UNSIGNED_TEXT", 4000000000, UINT)),
    (0.1, Literal("FRACTION", 0.1, None)),
    (1e5, Literal("LARGE_FRACTION", 1e5, None)),
    ("0.1f", Literal("TEXT_OF_A_FLOAT", rounded(0.1, FLOAT), FLOAT)),
]


def operations(kind: CType, values: list[Value], literal: Literal, strict: bool = False) -> list[Probe]:
    """x under every operator, with the literal on the right and on the left, where any result is defined."""
    probes = []
    for operator, swapped in itertools.product(operators_for(kind, literal.beside(kind)), (False, True)):
        if swapped and operator in (">", "<=", "!=", "||"):
            continue  # the same as < >= == && with the sides changed
        # The operands of && and || have no common type: a literal there meets no other.
        other = literal.beside(INT if operator in ("&&", "||") else kind, strict)
        number = convert(literal.value, other)
        operands = [(number, other, a, kind) if swapped else (a, kind, number, other) for a in values]
        results = [binary(operator, *each) for each in operands]
        text = spell(operator, literal.text, "x") if swapped else spell(operator, "x", literal.text)
        if any(result is not None for result, _ in results):
            expected = [result for result, _ in results]
            probes.append(Probe(text, results[0][1], expected, inputs=values))
    other = literal.beside(kind, strict)
    number = convert(literal.value, other)
    for condition, text in (
        (1, f"x == x || true ? x : {literal.text}"),
        (0, f"x != x && false ? x : {literal.text}"),
    ):
        chosen = [select(condition, a, kind, number, other) for a in values]
        probes.append(Probe(text, chosen[0][1], [value for value, _ in chosen], inputs=values))
    return probes


def given(kind: CType) -> list[Input]:
    return [Input("X", kind, FEW[kind] + [1] * (SIZE - len(FEW[kind])))]


def beside(kind: CType, literals: list[Literal], strict: bool = False) -> list[Part]:
    """A block of the type beside each of the literals."""
    return [
        Part(
            f"{kind} x[{SIZE}] = *(X + r);",
            given(kind),
            operations(kind, FEW[kind], literal, strict),
            label=f"{kind} and {literal.text}",
        )
        for literal in literals
    ]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_block_with_literal(device: str, kind: CType, every: int) -> None:
    check_together(device, beside(kind, LITERALS), every, size=SIZE)


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_strict_literals(device: str, kind: CType, every: int) -> None:
    parts = beside(kind, WEAK_LITERALS[::2], strict=True)
    check_together(device, parts, every, size=SIZE, strict_literals=True)


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.sampled(9)
def test_block_with_define(device: str, kind: CType, every: int) -> None:
    defines = {literal.text: value for value, literal in DEFINES}
    check_together(
        device, beside(kind, [literal for _, literal in DEFINES]), every, size=SIZE, defines=defines
    )


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_scalar_with_literal(device: str, kind: CType, every: int) -> None:
    """A parameter beside some literals, and a scalar that was loaded beside others."""
    values = [value for value in FEW[kind] if value == value][-1:]
    parameter, loaded = [], []
    for literal in MORE_INTEGER_LITERALS[::4] + WEAK_LITERALS[:1]:
        parameter += operations(kind, values, literal)
    for literal in MORE_INTEGER_LITERALS[2::4] + WEAK_LITERALS[2:3]:
        loaded += operations(kind, values, literal)
    parts = [
        Part("", [], parameter, [(f"{kind} x", values[0])], f"{kind} parameter"),
        Part(f"{kind} x = *(X + r);", [Input("X", kind, values)], loaded, label=f"{kind} loaded"),
    ]
    check_together(device, parts, every)


CONSTANTS = INTEGER_LITERALS + MORE_INTEGER_LITERALS + FLOAT_LITERALS


@pytest.mark.parametrize("left", [pytest.param(literal, id=literal.text) for literal in CONSTANTS])
@pytest.mark.sampled(9)
def test_literal_with_literal(device: str, left: Literal, every: int) -> None:
    """Constant expressions: folded or not, they have C's types and wrap at C's widths."""
    assert left.kind is not None
    probes = []
    for right in thinned(CONSTANTS, every, left.text):
        assert right.kind is not None
        for operator in operators_for(left.kind, right.kind):
            result, kind = binary(operator, left.value, left.kind, right.value, right.kind)
            if result is not None:
                probes.append(Probe(spell(operator, left.text, right.text), kind, [result]))
    for operator in "+-!" if left.kind.floating else "+-~!":
        result, kind = unary(operator, left.value, left.kind)
        probes.append(Probe(f"{operator} {left.text}", kind, [result]))
    check(device, "", [], probes)
