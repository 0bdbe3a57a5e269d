"""Operators and built-in functions of Triton-C on values (language.md, sections 4 and 6).

``Rules`` bounds the error of a correct implementation on floats. Integers are exact: they wrap at their C
width, divide toward zero, and what C leaves undefined becomes a bad element.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from pytriton.lang.tree.types import BOOL, DOUBLE, FLOAT, ElementType, PointerType, ScalarType
from tests.oracle.values import (
    SMALLEST,
    Array,
    Terms,
    Value,
    both,
    broadcast,
    converted,
    dtype_of,
    rounded,
    ulp,
)

__all__ = [
    "CERTAIN",
    "GPU",
    "INTERPRETER",
    "C",
    "Rules",
    "binary",
    "call",
    "dot",
    "either_zero",
    "reduce",
    "select",
    "unary",
    "zeros_meet",
]


@dataclass(frozen=True, slots=True)
class Rules:
    """The error bounds of floats: what "may be Triton's (2 ulp)", "may be fused" allow.

    ``fusing``: a product that meets a sum may skip its rounding, and what is added to a product of matrices may be
    one of the terms that are summed up ("chained into one accumulating product"). ``division``: ulps of float ``/``
    and ``sqrt`` (double is exact). ``functions``: ulps of ``exp``, ``log`` and the rest. ``flushing``: ``exp`` of
    float may be 0 where it is below 2^-126 (beside a matrix product it is ``exp2``). ``zeros``: a sum of negative
    zeros, and a minimum or maximum of zeros, may have either sign. Without ``strays`` every float is taken as it
    was calculated here.
    """

    fusing: bool
    division: float
    functions: float
    strays: bool = True
    flushing: bool = False
    zeros: bool = False


INTERPRETER = Rules(fusing=False, division=0, functions=4)
C = Rules(fusing=False, division=0, functions=4, zeros=True)
GPU = Rules(fusing=True, division=2, functions=16, flushing=True, zeros=True)
CERTAIN = Rules(fusing=False, division=0, functions=0, strays=False)

_COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "<": np.less,
    ">": np.greater,
    "<=": np.less_equal,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}
_BITS = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
_SIMPLE = {"+": np.add, "-": np.subtract, "*": np.multiply}


def unary(operator: str, value: Value, element: ElementType) -> Value:
    """``-`` and ``~`` in the operand's type, ``!`` of a bool."""
    if operator == "!":
        return Value(np.logical_not(value.data), value.bad)
    if operator == "~":
        return Value(np.invert(value.data), value.bad)
    return Value(np.negative(value.data).astype(dtype_of(element)), value.bad, value.error, value.fused)


def binary(
    operator: str, left: Value, right: Value, operand: ElementType, result: ElementType, rules: Rules
) -> Value:
    """An operator on operands of the element type ``operand``; pointers as Value of addresses."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    left, right = broadcast(left, shape), broadcast(right, shape)
    bad = both(left.bad, right.bad)
    if isinstance(operand, PointerType):
        return _pointers(operator, left, right, operand, result, bad)
    if operator in _COMPARE:
        return _compare(operator, left, right, bad)
    if operator in ("&&", "||"):
        join = np.logical_and if operator == "&&" else np.logical_or
        return Value(join(left.data, right.data), _undecided(left, right, bad, operator == "&&"))
    if operand.is_float:
        return _floats(operator, left, right, operand, bad, rules)
    return _integers(operator, left, right, operand, bad)


def _undecided(left: Value, right: Value, bad: Array | None, both_wanted: bool) -> Array | None:
    """Where a truth value is unspecified: false and anything is false, true or anything is true."""
    if bad is None:
        return None
    decided = np.zeros(left.shape, bool)
    for side in (left, right):
        known = np.ones(left.shape, bool) if side.bad is None else ~side.bad
        decided = decided | (known & (side.data != both_wanted))
    return both(bad & ~decided)


def _compare(operator: str, left: Value, right: Value, bad: Array | None) -> Value:
    result = _COMPARE[operator](left.data, right.data)
    if left.error is not None or right.error is not None:
        stray = left.spread() + right.spread()
        gap = np.abs(left.data.astype(np.float64) - right.data.astype(np.float64))
        bad = both(bad, (stray > 0) & ~(gap > stray) & ~np.isnan(gap))
    return Value(result, bad)


def _integers(operator: str, left: Value, right: Value, type_: ScalarType, bad: Array | None) -> Value:
    a, b = left.data, right.data
    if operator in _SIMPLE:
        return Value(_SIMPLE[operator](a, b), bad)
    if operator in _BITS:
        if type_ == BOOL and operator != "^":
            bad = _undecided(left, right, bad, operator == "&")
        return Value(_BITS[operator](a, b), bad)
    if operator in ("<<", ">>"):
        outside = (b < 0) | (b >= type_.bits)
        shift = np.where(outside, 0, b).astype(a.dtype)
        moved = np.left_shift(a, shift) if operator == "<<" else np.right_shift(a, shift)
        return Value(moved, both(bad, outside))
    assert operator in ("/", "%"), operator
    zero = b == 0
    divisor = np.where(zero, 1, b).astype(a.dtype)
    # np.fmod has the sign of the dividend, as C's %. The quotient is then exact; INT_MIN / -1 wraps.
    minus = (divisor == -1) if type_.signed else np.zeros_like(zero)
    safe = np.where(minus, 1, divisor).astype(a.dtype)
    rest = np.where(minus, 0, np.fmod(a, safe)).astype(a.dtype)
    if operator == "%":
        return Value(rest, both(bad, zero))
    quotient = np.floor_divide(np.subtract(a, rest), safe)
    return Value(np.where(minus, np.negative(a), quotient).astype(a.dtype), both(bad, zero))


def _pointers(
    operator: str, left: Value, right: Value, type_: PointerType, result: ElementType, bad: Array | None
) -> Value:
    if operator in _COMPARE:
        return Value(_COMPARE[operator](left.data, right.data), bad)
    width = size_of(type_.element)
    if isinstance(result, PointerType):  # "pointer plus integer moves by elements"
        step = right.data.astype(np.int64) * width
        return Value(left.data + step if operator == "+" else left.data - step, bad)
    apart = left.data - right.data  # "p - q is a long"
    return Value(apart // width, both(bad, apart % width != 0))


def size_of(element: ElementType) -> int:
    """Bytes of an element in memory; a bool takes one."""
    if isinstance(element, PointerType):
        return 8
    return max(element.bits, 8) // 8


def _wide(data: Array, type_: ScalarType) -> Array:
    return data if type_ == DOUBLE else data.astype(np.float64)


def _floats(
    operator: str, left: Value, right: Value, type_: ScalarType, bad: Array | None, rules: Rules
) -> Value:
    a, b = left.data, right.data
    fused: Array | None = None
    stray: Array | None = None
    if operator == "/":
        data = rounded(np.divide(_wide(a, type_), _wide(b, type_)) if type_ == DOUBLE else a / b, type_)
        if left.error is not None or right.error is not None:
            x, y = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
            spare = y - right.spread()
            stray = np.where(spare > 0, (left.spread() + x / y * right.spread()) / spare, np.inf)
        if rules.division and type_ != DOUBLE:
            stray = rules.division * ulp(data, type_) + (0 if stray is None else stray)
    else:
        # float64 holds products of float and narrower exactly, and their sums well enough to round once
        exact = _SIMPLE[operator](_wide(a, type_), _wide(b, type_))
        data = rounded(_SIMPLE[operator](a, b), type_)
        if operator == "*":
            if left.error is not None or right.error is not None:
                x, y = np.abs(a.astype(np.float64)), np.abs(b.astype(np.float64))
                stray = x * right.spread() + y * left.spread() + left.spread() * right.spread()
            if rules.fusing and type_ != DOUBLE:
                fused = np.where(np.isfinite(exact), np.abs(exact - data), 0.0)
                fused = fused if fused.any() else None
        else:
            for side in (left, right):
                for shadow in (side.error, side.fused):
                    if shadow is not None:
                        stray = shadow if stray is None else stray + shadow
            for product, other in ((left, b), (right, a)):
                if operator == "+" and rules.fusing and product.terms is not None:
                    chained = _chained(product.terms, other, type_)
                    stray = chained if stray is None else stray + chained
    if stray is not None:
        stray = stray + np.where(stray > 0, ulp(data, type_), 0.0)
        bad = both(bad, ~np.isfinite(stray) & ~np.isnan(data))
        stray = np.where(np.isfinite(stray) & np.isfinite(data), stray, 0.0)
        stray = stray if stray.any() else None
    return Value(data, bad, stray, fused)


def either_zero(value: Value, where: Array) -> Value:
    """The value, with zeros of either sign there: they stray by less than any number that is not 0."""
    where = where & (value.data == 0)
    if not where.any():
        return value
    return replace(value, error=value.spread() + np.where(where, 2.0 ** SMALLEST[FLOAT], 0.0))


def zeros_meet(left: Value, right: Value) -> Array:
    """Where one is 0.0 and the other is -0.0."""
    return (left.data == 0) & (right.data == 0) & (np.signbit(left.data) != np.signbit(right.data))


def select(condition: Value, yes: Value, no: Value) -> Value:
    """``condition ? yes : no``: an unspecified element that is not chosen does no harm."""
    shape = np.broadcast_shapes(condition.shape, yes.shape, no.shape)
    condition, yes, no = (broadcast(value, shape) for value in (condition, yes, no))
    where = condition.data

    def chosen(first: Array | None, second: Array | None, nothing: bool | float) -> Array | None:
        if first is None and second is None:
            return None
        return np.where(where, nothing if first is None else first, nothing if second is None else second)

    bad = both(condition.bad, chosen(yes.bad, no.bad, False))
    return Value(
        np.where(where, yes.data, no.data),
        bad,
        chosen(yes.error, no.error, 0.0),
        chosen(yes.fused, no.fused, 0.0),
    )


# ---------------------------------------------------------------- sums


def _granule(data: Array) -> float:
    """The largest power of two that divides every finite number here; inf if all are zero."""
    flat = np.abs(data[np.isfinite(data) & (data != 0)]).astype(np.float64)
    if not flat.size:
        return math.inf
    mantissa, exponent = np.frexp(flat)
    whole = (mantissa * 2.0**53).astype(np.int64)
    low = (whole & -whole).astype(np.float64)
    return float(np.min(np.ldexp(low, exponent - 53)))


def _inexact(terms: Terms, type_: ScalarType) -> Array:
    """How far sums of the terms in different orders, or with products that are not rounded, may stray.

    Nothing strays where every partial sum is exact, in any order: all terms are multiples of one power of two that
    the type can hold, and the sum of their sizes still fits. Elsewhere each rounding adds half a unit of a partial
    sum, which is no larger than ``size``, or half the smallest number where sums are subnormal.
    """
    digits = _digits(type_)
    size = np.where(np.isfinite(terms.size), terms.size, 0.0)
    each = size * 2.0 ** (1 - digits) + 2.0 ** SMALLEST[type_]
    rounds = (size > terms.granule * 2.0**digits) | (terms.granule < 2.0 ** SMALLEST[type_])
    return np.where(rounds & (size > 0), terms.count * each, 0.0)


def summed(terms: Array, axis: int, type_: ScalarType, spread: Array | None) -> tuple[Array, Array]:
    """The sum along an axis when it is accumulated in ``type_``, and how far another order may stray."""
    wide = terms.astype(np.float64)
    known = Terms(np.abs(wide).sum(axis=axis), terms.shape[axis] + 1, _granule(wide))
    stray = 0.0 if spread is None else spread.sum(axis=axis)
    return wide.sum(axis=axis), stray + _inexact(known, type_)


def _chained(terms: Terms, other: Array, type_: ScalarType) -> Array:
    """How far a sum may stray where it is a term of the product of matrices that it is added to.

    Triton adds to the accumulator term by term, from ``other`` on: one rounding more, and partial sums of which
    ``other`` is a part. So the product may be exact by itself and the sum not.
    """
    wide = np.abs(other.astype(np.float64))
    granule = min(terms.granule, _granule(wide))
    return _inexact(Terms(terms.size + wide, terms.count + 1, granule), type_)


def reduce(operator: str, value: Value, axis: int, have: ScalarType, want: ScalarType, rules: Rules) -> Value:
    """``x[+]``, ``x[max]``, ``x[min]`` along one axis, in the promoted type."""
    value = converted(value, have, want)
    bad = None if value.bad is None else value.bad.any(axis=axis)
    if not want.is_float:
        if operator == "+":
            return Value(value.data.sum(axis=axis, dtype=value.data.dtype), bad)
        pick = np.max if operator == "max" else np.min
        return Value(pick(value.data, axis=axis), bad)
    if operator == "+":
        spread = None
        if value.error is not None or value.fused is not None:
            spread = value.spread() + (0.0 if value.fused is None else value.fused)
        total, stray = summed(value.data, axis, DOUBLE if want == DOUBLE else FLOAT, spread)
        data = rounded(rounded(total, FLOAT) if want != DOUBLE else total, want)
        result = _with_stray(data, bad, stray if rules.strays else np.zeros_like(stray), want)
        return either_zero(result, _negative_zeros(value.data, axis)) if rules.zeros else result
    pick = np.fmax if operator == "max" else np.fmin  # "skip NaN as IEEE maxNum does"
    error = None if value.error is None else value.error.max(axis=axis)
    result = Value(pick.reduce(value.data, axis=axis), bad, error)
    return either_zero(result, np.signbit(value.data).any(axis=axis)) if rules.zeros else result


def _negative_zeros(terms: Array, axis: int) -> Array:
    return ((terms == 0) & np.signbit(terms)).all(axis=axis)


def _with_stray(data: Array, bad: Array | None, stray: Array, type_: ScalarType) -> Value:
    """A rounded result whose exact value may stray; an overflow within reach makes it bad."""
    stray = stray + np.where(stray > 0, ulp(data, type_), 0.0)
    near = (stray > 0) & ~np.isfinite(data) & ~np.isnan(data)
    bad = both(bad, ~np.isfinite(stray) | near)
    stray = np.where(np.isfinite(stray) & np.isfinite(data), stray, 0.0)
    return Value(data, bad, stray if stray.any() else None)


def dot(left: Value, right: Value, want: ScalarType, rules: Rules) -> Value:
    """``a @ b`` of [M,K,...] and [K,N,...]: trailing axes are batches; accumulated in ``want``."""
    a = left.mapped(lambda x: np.expand_dims(x, 2))  # [M,K,1,...]
    b = right.mapped(lambda x: np.expand_dims(x, 0))  # [1,K,N,...]
    shape = np.broadcast_shapes(a.shape, b.shape)
    bad = both(a.bad, b.bad)
    if bad is not None:
        bad = np.broadcast_to(bad, shape).any(axis=1)
    if not want.is_float:
        dtype = dtype_of(want)
        product = a.data.astype(dtype) * b.data.astype(dtype)
        return Value(product.sum(axis=1, dtype=dtype), bad)
    x, y = a.data.astype(np.float64), b.data.astype(np.float64)
    spread = None
    if a.error is not None or b.error is not None:
        spread = np.abs(x) * b.spread() + np.abs(y) * a.spread() + a.spread() * b.spread()
    products = x * y
    granule = _granule(products)
    if want == DOUBLE and np.abs(products).max(initial=0.0) > (exact := _granule(x) * _granule(y)) * 2.0**53:
        granule = exact  # they were rounded, which an accumulating product does not do
    terms = Terms(np.abs(products).sum(axis=1), products.shape[1] + 2, granule)
    stray = (0.0 if spread is None else spread.sum(axis=1)) + _inexact(terms, want)
    value = _with_stray(
        rounded(products.sum(axis=1), want), bad, stray if rules.strays else 0.0 * stray, want
    )
    value = either_zero(value, _negative_zeros(products, 1)) if rules.zeros else value
    value.terms = terms
    return value


# ---------------------------------------------------------------- functions

_erf = np.vectorize(math.erf, otypes=[np.float64])

_REAL: dict[str, Callable[[Array], Array]] = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "erf": lambda x: _erf(x) if np.size(x) else x,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "log2": np.log2,
    "exp2": np.exp2,
}
# How many times a relative change of the argument shows in the result, at most (relative to size or to 1).
_SLOPE: dict[str, Callable[[Array, Array], Array]] = {
    "exp": lambda x, y: y,
    "exp2": lambda x, y: y,
    "log": lambda x, y: 1 / np.abs(x),
    "log2": lambda x, y: 1.5 / np.abs(x),
    "sqrt": lambda x, y: 0.5 / np.maximum(y, 1e-300),
    "rsqrt": lambda x, y: 0.5 * y / np.abs(x),
}


def call(function: str, values: tuple[Value, ...], type_: ScalarType, rules: Rules) -> Value:
    """A built-in function of operands already converted to ``type_``."""
    shape = np.broadcast_shapes(*(value.shape for value in values))
    values = tuple(broadcast(value, shape) for value in values)
    bad = both(*(value.bad for value in values))
    match function:
        case "min" | "max":
            sign = "<" if function == "min" else ">"
            value = select(binary(sign, values[0], values[1], type_, BOOL, rules), *values)
            return either_zero(value, zeros_meet(*values)) if rules.zeros and type_.is_float else value
        case "abs":
            return Value(np.abs(values[0].data).astype(dtype_of(type_)), bad, values[0].error)
        case "floor" | "ceil":
            return _whole(np.floor if function == "floor" else np.ceil, values[0], bad)
        case "fma":
            return _fma(values, type_, bad, rules)
        case "pow":
            return _power(values, type_, bad, rules)
    (x,) = values
    wide = x.data.astype(np.float64)
    exact = _REAL[function](wide)
    data = rounded(exact, type_)
    ulps = rules.division if function == "sqrt" else rules.functions
    if function in ("exp", "exp2", "sigmoid"):  # the argument is scaled and rounded first
        ulps = ulps + 2 * np.abs(np.where(np.isfinite(wide), wide, 0.0))
    stray = ulps * ulp(data, type_)
    if function == "exp" and rules.flushing and type_ == FLOAT:
        stray = np.where(exact < 2.0**-126, np.maximum(stray, exact), stray)
    if function in ("log", "log2", "sin", "cos", "tanh", "erf"):  # near their zeros: absolute
        stray = np.where(wide == 0, stray, np.maximum(stray, rules.functions * 2.0 ** -(_digits(type_) + 1)))
        if function in ("log", "log2"):
            stray = np.where(wide == 1, 0.0, stray)
    if x.error is not None:
        slope = _SLOPE[function](wide, np.abs(exact)) if function in _SLOPE else 1.2
        stray = stray + np.where(x.error > 0, 2 * slope * x.error, 0.0)
    return _with_stray(data, bad, np.where(np.isfinite(data), stray, 0.0), type_)


def _digits(type_: ScalarType) -> int:
    return 53 if type_ == DOUBLE else 24


def _whole(change: Callable[[Array], Array], x: Value, bad: Array | None) -> Value:
    data = change(x.data) if x.data.dtype.kind == "f" else x.data
    if x.error is not None:
        wide = x.data.astype(np.float64)
        bad = both(bad, change(wide - x.error) != change(wide + x.error))
    return Value(data, bad)


def _fma(values: tuple[Value, ...], type_: ScalarType, bad: Array | None, rules: Rules) -> Value:
    product = binary("*", values[0], values[1], type_, type_, rules)
    result = binary("+", product, values[2], type_, type_, rules)
    if not type_.is_float:
        return result
    # one rounding or two: both are Triton's `a * b + c`
    wide = [_wide(value.data, type_) for value in values]
    once = _exactly(*wide) if type_ == DOUBLE else rounded(wide[0] * wide[1] + wide[2], type_)
    apart = np.abs(once.astype(np.float64) - result.data)
    stray = result.spread() + np.where(np.isfinite(apart), apart, 0.0)
    return Value(result.data, both(bad, result.bad), stray if stray.any() else None)


def _once(a: float, b: float, c: float) -> float:
    """a * b + c with one rounding; where it is not finite, with two."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    try:
        return float(Fraction(a) * Fraction(b) + Fraction(c))
    except OverflowError:
        return a * b + c


_exactly = np.vectorize(_once, otypes=[np.float64])


def _power(values: tuple[Value, ...], type_: ScalarType, bad: Array | None, rules: Rules) -> Value:
    x, y = (value.data.astype(np.float64) for value in values)
    data = rounded(np.power(x, y), type_)
    scale = rules.functions + 4 * np.abs(y * np.log2(np.maximum(np.abs(x), 1e-300)))
    stray = np.where(np.isfinite(data), scale * ulp(data, type_), 0.0)
    if values[0].error is not None or values[1].error is not None:
        bad = both(bad, (values[0].spread() > 0) | (values[1].spread() > 0))
    return _with_stray(data, bad, stray, type_)
