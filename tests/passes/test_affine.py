"""Sums and conversions of integers against what C computes (passes/analysis/affine.py)."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import wrap
from pytriton.passes.analysis.affine import Affine, affine_of_element, distinct, keeps_number, reach
from pytriton.source import Source, Span

SPAN = Span(Source("kernel.c", "x"), 0, 1)
INTEGERS = (
    types.CHAR,
    types.UCHAR,
    types.SHORT,
    types.USHORT,
    types.INT,
    types.UINT,
    types.LONG,
    types.ULONG,
)
WIDE = INTEGERS[4:]
VARIABLES = [typed.Symbol(f"v{number}", type_, SPAN) for number, type_ in enumerate((*INTEGERS, types.BOOL))]


def limits(type_: types.ScalarType) -> tuple[int, int]:
    bits = type_.bits - type_.signed
    return (-(1 << bits) if type_.signed else 0), (1 << bits) - 1


def edges(type_: types.ScalarType) -> set[int]:
    low, high = limits(type_)
    around = (
        near + step for power in range(65) for near in (1 << power, -(1 << power)) for step in (-1, 0, 1)
    )
    return {value for value in (low, high, *around) if low <= value <= high}


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_keeps_number_is_exact(bits: int) -> None:
    """It accepts every conversion that keeps the numbers modulo 2**bits, and no other."""
    for old, new in itertools.product((types.BOOL, *INTEGERS), INTEGERS):
        cast = typed.Cast(SPAN, new, typed.Name(SPAN, old, typed.Symbol("x", old, SPAN)))
        kept = all((wrap(value, new) - value) % (1 << bits) == 0 for value in edges(old))
        assert keeps_number(cast, bits) == kept, (str(old), str(new))


def test_keeps_number_of_others() -> None:
    """Pointers keep their element, or they do not; truth values and floating numbers are not integers."""
    for old, new in itertools.product(
        (types.PointerType(types.INT), types.FLOAT, types.DOUBLE, types.BOOL), repeat=2
    ):
        cast = typed.Cast(SPAN, new, typed.Name(SPAN, old, typed.Symbol("x", old, SPAN)))
        assert keeps_number(cast) == (old == new)
    to_bool = typed.Cast(SPAN, types.BOOL, typed.Name(SPAN, types.INT, VARIABLES[4]))
    assert not keeps_number(to_bool)


def _expressions() -> st.SearchStrategy[typed.Expr]:
    leaves = st.one_of(
        st.sampled_from(VARIABLES).map(lambda symbol: typed.Name(SPAN, symbol.type, symbol)),
        st.tuples(st.sampled_from(WIDE), st.integers(-(2**40), 2**40)).map(
            lambda pair: typed.Literal(SPAN, pair[0], wrap(pair[1], pair[0]))
        ),
    )

    def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        def binary(drawn: tuple[types.ScalarType, str, typed.Expr, typed.Expr]) -> typed.Expr:
            type_, operator, left, right = drawn
            return typed.Binary(SPAN, type_, operator, _as(type_, left), _as(type_, right))

        return st.one_of(
            st.tuples(st.sampled_from(INTEGERS), inner).map(lambda pair: _as(*pair)),
            st.tuples(st.sampled_from(WIDE), st.sampled_from("+-*"), inner, inner).map(binary),
            st.tuples(st.sampled_from(WIDE), inner).map(
                lambda pair: typed.Unary(SPAN, pair[0], "-", _as(*pair))
            ),
        )

    return st.recursive(leaves, larger, max_leaves=8)


def _as(type_: types.ScalarType, expr: typed.Expr) -> typed.Expr:
    return expr if expr.type == type_ else typed.Cast(SPAN, type_, expr)


def _computed(expr: typed.Expr, values: dict[typed.Symbol, int]) -> int:
    """C's value of an expression."""
    assert isinstance(expr.type, types.ScalarType)
    match expr:
        case typed.Literal(value=value):
            return int(value)
        case typed.Name(symbol=symbol):
            return values[symbol]
        case typed.Cast(operand=operand):
            return wrap(_computed(operand, values), expr.type)
        case typed.Unary(operand=operand):
            return wrap(-_computed(operand, values), expr.type)
        case typed.Binary(operator=operator, left=left, right=right):
            one, two = _computed(left, values), _computed(right, values)
            return wrap({"+": one + two, "-": one - two, "*": one * two}[operator], expr.type)
    raise AssertionError(expr)


@settings(max_examples=400, deadline=None)
@given(_expressions(), st.data())
def test_sums_are_what_c_computes(expr: typed.Expr, data: st.DataObject) -> None:
    """A sum is right modulo 2**32, and modulo 2**64 where it says that it is exact."""
    values = {
        symbol: data.draw(st.sampled_from(sorted(edges(symbol.type))))
        for symbol in VARIABLES  # type: ignore[arg-type]
    }
    terms: dict[int, typed.Expr] = {}

    def leaf(part: typed.Expr) -> Affine:
        terms[id(part)] = part
        return Affine.symbol(id(part))

    total = affine_of_element(expr, leaf)
    assert total is not None
    assert total.low == total.high
    number = total.low + sum(times * _computed(terms[term], values) for term, times in total.terms.items())
    if expr.type.bits >= 32:  # type: ignore[union-attr]
        assert (number - _computed(expr, values)) % (1 << (64 if total.exact else 32)) == 0


def test_sums_that_are_said_to_be_distinct_are() -> None:
    """Of three digits, under bounds of some of them, as a ragged block has them: against all sums."""
    rng, proven = random.Random(1), 0
    for _ in range(3000):
        ranges = {key: rng.randint(1, 4) for key in "abc"}
        steps = {key: rng.choice((1, 2, 3, 4, 6, 8, 9, 12, 16, 18)) for key in "abc"}
        unit = rng.choice((1, 2, 3))
        some = rng.sample("abc", rng.randint(1, 3))
        low = -rng.randint(0, 12)
        bound = Affine({key: max(1, steps[key] // unit) for key in some}, low, low)
        keys = [key for key, count in ranges.items() if count > 1]
        sums = [
            sum(steps[key] * place for key, place in zip("abc", places, strict=True))
            for places in itertools.product(*(range(ranges[key]) for key in "abc"))
            if low + sum(bound.terms.get(k, 0) * p for k, p in zip("abc", places, strict=True)) <= 0
        ]
        of = {key: steps[key] for key in keys}
        largest = reach(of, ranges, [bound])
        assert largest is not None
        assert max(sums, default=0) <= largest
        if distinct(of, ranges, [bound]):
            proven += 1
            assert len(set(sums)) == len(sums)
    assert proven > 500
