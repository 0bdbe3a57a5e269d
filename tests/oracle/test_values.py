"""The evaluator's own conversions beside exact arithmetic: what judges others must be right itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pytriton.lang.tree.types import BFLOAT16, DOUBLE, FLOAT, HALF, TYPE_WORDS, ScalarType
from tests.oracle.arithmetic import GPU, INTERPRETER, Rules, binary, call, dot
from tests.oracle.judges import Difference, checked, compare, evaluated, launch
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


def added(a: np.ndarray, b: np.ndarray, c: np.ndarray, type_: ScalarType, rules: Rules) -> Value:
    """``a @ b + c`` of the evaluator."""
    with np.errstate(all="ignore"):
        return binary("+", dot(Value(a), Value(b), type_, rules), Value(c), type_, type_, rules)


def accumulated(a: np.ndarray, b: np.ndarray, c: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The same by one accumulator that begins with ``c`` and rounds once for each term, products unrounded."""
    total = np.array([[Fraction(float(x)) for x in row] for row in c])
    for k in order:
        for i, j in np.ndindex(c.shape):
            total[i, j] = Fraction(
                float(c.dtype.type(float(total[i, j] + Fraction(float(a[i, k])) * Fraction(float(b[k, j])))))
            )
    return total.astype(np.float64)


@pytest.mark.parametrize("type_", [FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e6, 2.0**24, 1e-6, 2.0**-1072])
def test_what_is_added_to_a_product_may_be_a_term_of_it(type_: ScalarType, scale: float) -> None:
    """The bound holds for one accumulating product, whatever the order of its terms, and says little more."""
    random = np.random.default_rng(7)
    dtype = np.float32 if type_ == FLOAT else np.float64
    scale = scale if type_ == DOUBLE or scale > 1e-300 else 2.0**-140
    strayed = 0
    for _ in range(20):
        a = random.normal(size=(2, 16)).astype(dtype)
        if type_ == DOUBLE and scale < 1e-300:  # ties, which an even and an odd sum round to different sides
            a = np.round(2 * a) / 2
        b = (random.normal(size=(16, 2)) * (scale if scale < 1e-20 else 1)).astype(dtype)
        c = (random.normal(size=(2, 2)) * scale).astype(dtype)
        value = added(a, b, c, type_, GPU)
        assert value.error is not None
        apart = np.abs(accumulated(a, b, c, random.permutation(16)) - value.data.astype(np.float64))
        assert (apart <= value.error).all(), (apart, value.error)
        strayed += int((apart > 0).sum())
        size = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) + np.abs(c)
        digits, least = (24, 2.0**-149) if type_ == FLOAT else (53, 2.0**-1074)
        assert (value.error <= 40 * (size * 2.0 ** (1 - digits) + least)).all()
    assert strayed > 5


def test_what_is_added_to_an_exact_product_may_not_be_exact() -> None:
    """The form of seeds 5200013 and 5201984: ones summed up above 2^24 are lost one by one, or kept together."""
    a, b = np.ones((1, 16), np.float32), np.ones((16, 1), np.float32)
    c = np.array([[2.0**24]], np.float32)
    lost = accumulated(a, b, c, np.arange(16))
    assert lost == c
    for rules, apart in ((GPU, 16.0), (INTERPRETER, None)):
        value = added(a, b, c, FLOAT, rules)
        assert value.data == c + 16
        if apart is None:
            assert value.error is None
        else:
            assert value.error is not None
            assert value.error >= apart


def test_what_is_added_to_a_product_is_exact_where_all_partial_sums_are() -> None:
    a, b = np.full((1, 16), 3.0, np.float32), np.full((16, 1), -0.25, np.float32)
    assert added(a, b, np.array([[2.0**20]], np.float32), FLOAT, GPU).error is None
    assert added(a, b, np.array([[2.0**22]], np.float32), FLOAT, GPU).error is not None


def test_products_of_subnormal_doubles_may_be_rounded_once_or_each() -> None:
    """The form of seed 20018994: 1.5 of the smallest number is rounded to 2, and 2.5 too."""
    a, b, none = np.array([[1.0, 1.5]]), np.full((2, 1), 5e-324), np.zeros((1, 1))
    with np.errstate(all="ignore"):
        value = dot(Value(a), Value(b), DOUBLE, INTERPRETER)
    assert value.data == 3 * 5e-324
    assert accumulated(a, b, none, np.arange(2)) == 2 * 5e-324
    assert value.error is not None
    assert 5e-324 <= value.error <= 8 * 5e-324


def test_products_of_subnormal_floats_may_be_rounded_once_or_each() -> None:
    """The form of seed 180006497: four times 1.5 of the smallest number is 6, or 8 where each is rounded to 2."""
    smallest = np.float32(1e-45)
    a, b = np.full((1, 4), 1.5, np.float32), np.full((4, 1), smallest)
    value = dot(Value(a), Value(b), FLOAT, INTERPRETER)
    assert value.data == 6 * smallest
    assert value.error is not None
    assert 2 * float(smallest) <= value.error
    assert dot(Value(a + a), Value(b), FLOAT, INTERPRETER).error is None


def test_products_of_doubles_may_be_rounded_once_or_each() -> None:
    """1 + 2^-52 squared lies between two doubles; less 1, the half of a unit is kept or lost."""
    near = 1 + 2.0**-52
    a, b = np.array([[near, -1.0]]), np.array([[near], [1.0]])
    value = dot(Value(a), Value(b), DOUBLE, INTERPRETER)
    assert value.error is not None
    assert (value.error >= 2.0**-104).all()
    assert (
        dot(Value(np.array([[3.0, -1.0]])), Value(np.array([[5.0], [1.0]])), DOUBLE, INTERPRETER).error
        is None
    )


@pytest.mark.parametrize(
    ("value", "free"),
    [
        ("-x[+]", False),
        ("(-x)[+]", True),
        ("(-x)[max]", True),
        ("((-x)[:, newaxis] @ x[newaxis, :])[+, +]", True),
        ("min(-*X, 0.0f)", True),
        ("max(0.0f, -*X)", True),
        ("-*X < 0.0f ? -*X : 0.0f", True),
        ("1.0f > *X ? -*X : 0.0f", False),
        ("-*X + 0.0f", False),
        ("-*X - 0.0f", False),
        ("-*X * 2.0f", False),
        ("x[+]", False),
        ("x[max]", False),
        ("min(*X, 1.0f)", False),
    ],
)
def test_signs_of_zeros_that_are_left_open(value: str, free: bool) -> None:
    """What docs/language.md leaves open may have the other sign on a GPU, and nothing else may."""
    text = f"void f(float *Z, float *X) {{ float x[4] = *(X + 0 ... 4); *Z = {value}; }}"
    case = launch(text, np.zeros(4, np.float32), np.zeros(4, np.float32))
    tree = checked(case.source, case.defines, case.strict)
    memory = evaluated(case, tree, rules=GPU)
    data = memory.contents(0)[0].view(np.float32).copy()
    assert data[0] == 0
    others = memory.contents(1)[0]
    compare(case, memory, [data.view(np.uint8), others])
    data[0] = -data[0]
    if free:
        compare(case, memory, [data.view(np.uint8), others])
    else:
        with pytest.raises(Difference):
            compare(case, memory, [data.view(np.uint8), others])
