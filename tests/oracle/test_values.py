"""The evaluator's own conversions beside exact arithmetic: what judges others must be right itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pytriton.lang.types import BFLOAT16, DOUBLE, FLOAT, HALF, TYPE_WORDS, ScalarType
from tests.oracle.arithmetic import INTERPRETER, call
from tests.oracle.values import Value, _from_integer, converted, round_bfloat16, rounded, ulp


def nearest(exact: Fraction, type_: ScalarType, near: float) -> bool:
    """Whether a number of the type is (one of) the nearest to an exact one."""
    return abs(Fraction(near) - exact) * 2 <= Fraction(float(ulp(np.float64(near), type_)))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint32"])
def test_integers_to_bfloat16(dtype: str) -> None:
    """Small numbers beside large ones: each is rounded once."""
    limits = np.iinfo(dtype)
    powers = [limits.max >> shift for shift in range(limits.bits)]
    numbers = [limits.max, limits.min, *powers, *(value - 1 for value in powers), 1, 0, 5, 255, 257, 65535]
    data = np.array([n for n in numbers if limits.min <= n <= limits.max], dtype)
    for exact, got in zip(data.tolist(), _from_integer(data, BFLOAT16).tolist(), strict=True):
        assert nearest(Fraction(exact), BFLOAT16, got), (exact, got)


def test_doubles_to_bfloat16_are_rounded_once() -> None:
    """A double just above a tie must not become the tie by way of float."""
    tie = 1.0 + 2.0**-8
    for value, wanted in ((tie + 2.0**-40, 1.0 + 2.0**-7), (tie, 1.0), (tie - 2.0**-40, 1.0), (-tie, -1.0)):
        assert round_bfloat16(np.array(value))[()] == wanted
    assert np.isnan(round_bfloat16(np.array(np.nan))[()])


def test_an_integer_beyond_half_is_infinite() -> None:
    assert rounded(np.array(70000.0), HALF) == np.inf


def test_float_to_integer_out_of_range_is_unspecified() -> None:
    value = Value(np.array([1e10, -1.9, np.nan, 2.0**31], np.float32))
    result = converted(value, FLOAT, TYPE_WORDS[("int",)])
    assert result.bad is not None
    assert result.bad.tolist() == [True, False, True, True]
    assert result.data[1] == -1


def test_fma_of_double_may_be_rounded_once() -> None:
    values = tuple(Value(np.array([0.1, 2.0])) for _ in range(3))
    result = call("fma", values, DOUBLE, INTERPRETER)
    assert result.error is not None
    assert result.error.tolist() == [abs((0.1 * 0.1 + 0.1) - 0.11), 0.0]
