"""How numbers and element types are spelled, and where Python's numbers are not C's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Final

from pytriton.emit.python import Atom, BinOp, Call, Method, Node, Tuple, UnaryOp
from pytriton.emit.values import Value
from pytriton.frozen import replace
from pytriton.lang import typed
from pytriton.lang.convert import constant, round_to, scalar_of, wrap
from pytriton.lang.typed import Expr
from pytriton.lang.types import BFLOAT16, BOOL, DOUBLE, FLOAT, HALF, ElementType, PointerType, ScalarType

__all__ = [
    "bare",
    "byte_count",
    "differs",
    "dtype",
    "full",
    "held",
    "is_float32",
    "is_minus_zero",
    "is_one",
    "lost_in_half",
    "minus_zero",
    "number",
    "rounded",
]


def dtype(element: ElementType) -> Node:
    """Triton's name of an element type."""
    if isinstance(element, PointerType):
        return Call("tl.pointer_type", (dtype(element.element),))
    return Atom(f"tl.{element.triton}")


def differs(expr: typed.Binary, left: Node, right: Node, numbers: Mapping[str, int | float]) -> bool:
    """Whether C finds another value for this constant than Python, which counts on and computes in double.

    ``left`` and ``right`` are the operands as printed, ``numbers`` the values of the names in them.
    """
    value = constant(expr)
    if value is None:
        return False
    one, other = constant(expr.left), constant(expr.right)
    if isinstance(one, int) and isinstance(other, int):
        return _wraps(expr.operator, one, other, value)
    first, second = _python(left, numbers), _python(right, numbers)
    if first is None or second is None:
        return False
    found = _compute(expr.operator, first, second)
    type_ = scalar_of(expr.type)
    assert type_ is not None
    if found is None or not type_.is_float:
        return found is not None and found != value
    return not _alike(round_to(found, type_), value)


def _wraps(operator: str, left: int, right: int, value: int | float) -> bool:
    exact = {"+": left + right, "-": left - right, "*": left * right}.get(operator, value)
    if operator == "<<" and 0 <= right < 64:
        exact = left << right
    return exact != value


def _alike(one: float, other: float) -> bool:
    return one == other or (math.isnan(one) and math.isnan(other))


def _python(node: Node, numbers: Mapping[str, int | float]) -> int | float | None:
    """The value of a printed constant in Python; None if this is none that is known."""
    match node:
        case Atom(text=text) if text in numbers:
            return numbers[text]
        case Atom(text=text):
            try:
                return float(text)
            except ValueError:
                return None
        case UnaryOp(operator="-", operand=operand):
            value = _python(operand, numbers)
            return None if value is None else -value
        case BinOp(operator=sign, left=left, right=right):
            one, other = _python(left, numbers), _python(right, numbers)
            return None if one is None or other is None else _compute(sign, one, other)
        case _:
            return None


def _compute(operator: str, left: int | float, right: int | float) -> int | float | None:
    calculate = _PYTHON.get(operator)
    if calculate is None or (operator == "/" and right == 0):
        return None
    try:
        return calculate(left, right)
    except OverflowError:
        return None


_PYTHON: Final[Mapping[str, Callable[[int | float, int | float], int | float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def held(value: Value, narrow: Expr, number: Expr) -> bool:
    """Whether a number may be compared in the narrower type that an operand has before its conversion."""
    element = value.element
    if not isinstance(number, typed.Literal) or value.weak or not isinstance(element, ScalarType):
        return False
    if not isinstance(narrow, typed.Cast) or not isinstance(number.value, int) or element == BOOL:
        return False
    wide = scalar_of(narrow.type)
    return wide is not None and _holds(wide, element) and wrap(number.value, element) == number.value


def _holds(wide: ScalarType, narrow: ScalarType) -> bool:
    """Whether an integer type holds every value of another one."""
    if wide.is_float or narrow.is_float:
        return False
    if narrow.signed:
        return wide.signed and wide.bits >= narrow.bits
    return wide.bits >= narrow.bits + wide.signed


def bare(value: int | float, element: ScalarType) -> Value:
    """A number as such, which takes the type of what it meets."""
    return Value(number(value, element), element, strong=False, weak=True)


def rounded(value: Value, expr: Expr, element: ScalarType) -> Value:
    """A number with all digits of the narrow type that it has in C."""
    known = None if value.strong else constant(expr)
    return value if known is None else replace(bare(known, FLOAT), element=element)


def is_minus_zero(value: int | float | None) -> bool:
    return value == 0 and math.copysign(1, value) < 0


def minus_zero(element: ScalarType) -> Value:
    """-0.0, which Triton's constants cannot be."""
    return Value(BinOp("*", Atom("-1.0"), full(Atom("0.0"), element)), element)


def full(number: Node, element: ElementType, shape: Node = Tuple(())) -> Node:  # noqa: B008
    """A number as a tensor."""
    if element == BFLOAT16 and lost_in_half(number):
        return Method(Call("tl.full", (shape, number, dtype(FLOAT))), "to", (dtype(element),))
    return Call("tl.full", (shape, number, dtype(element)))


def lost_in_half(number: Node) -> bool:
    """Whether half has no such number: up to Triton 3.6, constants of bfloat16 go through half."""
    try:
        value = float(number.text) if isinstance(number, Atom) else 0.0
    except ValueError:
        return False
    return round_to(round_to(value, BFLOAT16), HALF) != round_to(value, BFLOAT16)


def is_one(expr: Expr) -> bool:
    """Whether an operand is an integer define that is 1 here."""
    while isinstance(expr, typed.Cast):
        expr = expr.operand
    return isinstance(expr, typed.Constexpr) and isinstance(expr.value, int) and expr.value == 1


def is_float32(expr: Expr) -> bool:
    """Whether Triton makes a float32 of this constant alone: of what that has too few digits for, a float64."""
    value = expr.value if isinstance(expr, typed.Constexpr) else constant(expr)
    if value is None:
        return False
    return value == 0 or not math.isfinite(value) or 2.0**-126 <= abs(value) < 2.0**128


def byte_count(element: ElementType) -> int:
    return 8 if isinstance(element, PointerType) else max(1, element.bits // 8)


def number(value: int | float, element: ScalarType) -> Node:
    """A number in the shortest spelling that has this value in its type."""
    if element == BOOL:
        return Atom("True" if value else "False")
    if not element.is_float:
        return Atom(str(int(value)))
    if math.isnan(value):
        return Call("float", (Atom('"nan"'),))
    if math.isinf(value):
        return Call("float", (Atom('"inf"' if value > 0 else '"-inf"'),))
    if element == DOUBLE:
        return _float(float(value))
    for digits in range(1, 18):
        text = f"{value:.{digits}g}"
        if round_to(float(text), element) == value:
            return _float(float(text))
    return _float(float(value))


def _float(value: float) -> Atom:
    return Atom(repr(value).replace("e+", "e"))
