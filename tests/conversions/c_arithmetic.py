"""C's operators on single values: for each the type of the result, and the result, by the model of tests/fuzz/c.py.

``None`` is a result that C and language.md leave open (a division by zero, a shift by the
width or more, INT_MIN / -1); a pair is the two ends of what language.md allows: float ``/`` may be 2 ulp off.
"""

from __future__ import annotations

import math

from tests.conversions.c_types import (
    BOOL,
    DOUBLE,
    FLOAT,
    CType,
    Value,
    common,
    convert,
    promoted,
    rounded,
)
from tests.fuzz import c
from tests.fuzz.c import Number, Unspecified

__all__ = ["Expected", "binary", "operators_for", "select", "spell", "unary"]

Expected = Value | tuple[float, float]

COMPARE = ("<", ">", "<=", ">=", "==", "!=")
LOGIC = ("&&", "||")
ANY_OPERATORS = ("+", "-", "*", "/", "min", "max", *COMPARE, *LOGIC)
INTEGER_OPERATORS = ("%", "&", "|", "^", "<<", ">>")


def operators_for(left: CType, right: CType) -> tuple[str, ...]:
    """The binary operators that C defines for operands of these types, min and max among them."""
    return ANY_OPERATORS if left.floating or right.floating else ANY_OPERATORS + INTEGER_OPERATORS


def spell(operator: str, left: str, right: str) -> str:
    """The operation as Triton-C text."""
    return f"{operator}({left}, {right})" if operator in ("min", "max") else f"{left} {operator} {right}"


def binary(operator: str, a: Value, left: CType, b: Value, right: CType) -> tuple[Expected, CType]:
    """``a operator b`` for a value of type left and one of type right: result and its type."""
    if operator in LOGIC or operator in ("<<", ">>"):
        kind = BOOL if operator in LOGIC else promoted(left)  # of a shift: each operand is promoted by itself
    else:
        kind = common(left, right)
        a, b = convert(a, kind), convert(b, kind)
        if operator in COMPARE:
            left, right, kind = kind, kind, BOOL
        if a is None or b is None:
            return None, kind
        if operator in ("min", "max"):
            first = a < b if operator == "min" else a > b
            return (a if first else b), kind
        if kind is not BOOL:
            left = right = kind
        if operator == "/" and kind.floating:
            return _quotient(a, b, kind), kind
    try:
        return c.binary(operator, Number(left, a), Number(right, b)).value, kind
    except Unspecified:
        return None, kind


def _quotient(a: float, b: float, kind: CType) -> Expected:
    quotient = c.binary("/", Number(DOUBLE, a), Number(DOUBLE, b)).value
    if kind is DOUBLE or quotient == 0 or not math.isfinite(quotient):
        return quotient
    _, exponent = math.frexp(quotient)
    slack = 2 * math.ldexp(1, max(exponent - FLOAT.digits, FLOAT.quantum))
    return rounded(quotient - slack, kind), rounded(quotient + slack, kind)


def unary(operator: str, a: Value, kind: CType) -> tuple[Value, CType]:
    """``operator a``, for ``+ - ~ !``."""
    value = c.unary(operator, Number(kind, a)).value
    return value, BOOL if operator == "!" else promoted(kind)


def select(condition: Value, a: Value, left: CType, b: Value, right: CType) -> tuple[Value, CType]:
    """``condition ? a : b``: the branch, in the common type of both."""
    kind = common(left, right)
    return convert(a if condition != 0 else b, kind), kind
