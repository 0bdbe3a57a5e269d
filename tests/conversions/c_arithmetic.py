"""C's operators on single values, in plain Python: for each the type of the result, and the result.

Every operation works on exact numbers and rounds or wraps once, in the type that the usual arithmetic
conversions give. ``None`` is a result that C and language.md leave open (a division by zero, a shift by the
width or more, INT_MIN / -1); a pair is the two ends of what language.md allows: float ``/`` may be 2 ulp off.
"""

from __future__ import annotations

import math
from collections.abc import Callable

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
    wrapped,
)

__all__ = ["Expected", "binary", "operators_for", "select", "spell", "unary"]

Expected = Value | tuple[float, float]

COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
LOGIC: dict[str, Callable[[Value, Value], bool]] = {
    "&&": lambda a, b: a != 0 and b != 0,
    "||": lambda a, b: a != 0 or b != 0,
}
ANY_OPERATORS = ("+", "-", "*", "/", "min", "max", *COMPARE, *LOGIC)
INTEGER_OPERATORS = ("%", "&", "|", "^", "<<", ">>")


def operators_for(left: CType, right: CType) -> tuple[str, ...]:
    """The binary operators that C defines for operands of these types, min and max among them."""
    return ANY_OPERATORS if left.is_float or right.is_float else ANY_OPERATORS + INTEGER_OPERATORS


def spell(operator: str, left: str, right: str) -> str:
    """The operation as Triton-C text."""
    return f"{operator}({left}, {right})" if operator in ("min", "max") else f"{left} {operator} {right}"


def binary(operator: str, a: Value, left: CType, b: Value, right: CType) -> tuple[Expected, CType]:
    """``a operator b`` for a value of type left and one of type right: result and its type."""
    if operator in LOGIC:
        return int(LOGIC[operator](a, b)), BOOL
    if operator in ("<<", ">>"):
        # Not the common type: each operand is promoted by itself, the result has the left one's (6.5.7).
        kind = promoted(left)
        if not 0 <= b < kind.bits:
            return None, kind
        return wrapped(a << b if operator == "<<" else a >> b, kind), kind
    kind = common(left, right)
    a, b = convert(a, kind), convert(b, kind)
    if a is None or b is None:
        return None, BOOL if operator in COMPARE else kind
    if operator in COMPARE:
        return int(COMPARE[operator](a, b)), BOOL
    if operator in ("min", "max"):
        first = a < b if operator == "min" else a > b
        return (a if first else b), kind
    return (_floating if kind.is_float else _integer)(operator, a, b, kind), kind


def _integer(operator: str, a: int, b: int, kind: CType) -> int | None:
    if operator in ("/", "%"):
        if b == 0 or (kind.signed and a == kind.lowest and b == -1):
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if operator == "/" else a - b * quotient
    exact = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[operator]
    return wrapped(exact, kind)


def _floating(operator: str, a: float, b: float, kind: CType) -> Expected:
    # Doubles hold +, -, * and / of narrower types so closely that rounding twice is rounding once.
    if operator != "/":
        return rounded({"+": a + b, "-": a - b, "*": a * b}[operator], kind)
    if b == 0:
        sign = math.copysign(1, a) * math.copysign(1, b)
        return math.nan if a == 0 or a != a else math.copysign(math.inf, sign)
    quotient = a / b
    if kind is DOUBLE or quotient == 0 or not math.isfinite(quotient):
        return quotient
    _, exponent = math.frexp(quotient)
    slack = 2 * math.ldexp(1, max(exponent - FLOAT.digits, FLOAT.quantum))
    return rounded(quotient - slack, kind), rounded(quotient + slack, kind)


def unary(operator: str, a: Value, kind: CType) -> tuple[Value, CType]:
    """``operator a``, for ``+ - ~ !``."""
    if operator == "!":
        return int(a == 0), BOOL
    kind = promoted(kind)
    if kind.is_float:
        return (-a if operator == "-" else a), kind
    return wrapped({"+": a, "-": -a, "~": ~a}[operator], kind), kind


def select(condition: Value, a: Value, left: CType, b: Value, right: CType) -> tuple[Value, CType]:
    """``condition ? a : b``: the branch, in the common type of both."""
    kind = common(left, right)
    return convert(a if condition != 0 else b, kind), kind
