"""How numbers and element types are spelled, and where Python's numbers are not C's."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytriton.emit.python import Atom, BinOp, Call, Method, Node, Tuple
from pytriton.emit.values import Value
from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, convert, round_to, scalar_of, wrap
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import BFLOAT16, BOOL, DOUBLE, FLOAT, HALF, ElementType, PointerType, ScalarType

__all__ = [
    "bare",
    "byte_count",
    "computed",
    "converts_otherwise",
    "differs",
    "dtype",
    "full",
    "held",
    "is_float32",
    "is_one",
    "lost_in_half",
    "number",
    "rounded",
    "unspelled",
]


def dtype(element: ElementType) -> Node:
    """Triton's name of an element type."""
    if isinstance(element, PointerType):
        return Call("tl.pointer_type", (dtype(element.element),))
    return Atom(f"tl.{element.triton}")


def differs(expr: typed.Binary, first: Value, second: Value) -> bool:
    """Whether C finds another value than Python, which counts on and computes in double, of two bare numbers.

    ``first`` and ``second`` are the operands. What no number spells differs, too.
    """
    if first.number is None or second.number is None:
        return False
    value = constant(replace(expr, left=_literal(expr.left, first), right=_literal(expr.right, second)))
    if value is None:  # C leaves it undefined, and Python may refuse it
        return first.strong or second.strong
    python = computed(expr, first, second)
    type_ = scalar_of(expr.type)
    assert type_ is not None
    if python is None or unspelled(value, type_):
        return True
    return not _alike(round_to(python, type_), value) if type_.is_float else python != value


def _literal(operand: Expr, value: Value) -> Expr:
    """An operand that is a bare number, as C has it."""
    own, common = value.element, scalar_of(operand.type)
    assert isinstance(own, ScalarType) and common is not None and value.number is not None
    number = round_to(value.number, own) if own.is_float else value.number
    return convert(typed.Literal(operand.span, own, number), common)


def _alike(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


def computed(expr: typed.Binary, first: Value, second: Value) -> int | float | None:
    """What Python computes of operands that are bare numbers; None if one is not known, or Python refuses."""
    left, right = first.number, second.number
    if left is None or right is None:
        return None
    if expr.operator == "<<" and right >= 64:
        return None
    floats = scalar_of(expr.left.type)
    assert floats is not None
    sign = "//" if expr.operator == "/" and not floats.is_float else expr.operator
    try:
        return _PYTHON[sign](left, right)
    except (OverflowError, ValueError, ZeroDivisionError):
        return None


_PYTHON: Final[Mapping[str, Callable[[Any, Any], int | float]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "&&": operator.and_,
    "||": operator.or_,
    "^": operator.xor,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def unspelled(value: int | float | None, element: ElementType) -> bool:
    """Whether Triton makes something else of a number: 0.0 of -0.0, and a double of a float below 2^-126."""
    if not isinstance(value, float):
        return False
    return _negative_zero(value) or (element == FLOAT and 0 < abs(value) < 2.0**-126)


def converts_otherwise(value: Value, element: ElementType) -> bool:
    """Whether a bare floating number becomes another one than C's: Triton rounds it to float, Python to nothing."""
    own, number = value.element, value.number
    if value.strong or not value.weak or not isinstance(own, ScalarType) or not own.is_float:
        return False
    if number is None:
        return own != FLOAT
    if element == BOOL:
        return (round_to(number, own) == 0) != (number == 0)
    return own != FLOAT and round_to(number, FLOAT if own == DOUBLE else own) != number


def _negative_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) < 0


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
    """A number as such, which takes the type of what it meets; a tensor where Triton would change it."""
    node = number(value, element)
    if unspelled(value, element):
        positive = full(Atom("0.0") if value == 0 else node, element)
        return Value(BinOp("*", Atom("-1.0"), positive) if value == 0 else positive, element)
    known = float(node.text) if element.is_float and isinstance(node, Atom) else value
    return Value(node, element, False, True, known, value >= 0)


def rounded(value: Value, expr: Expr, element: ScalarType) -> Value:
    """A number with all digits of the narrow type that it has in C."""
    known = None if value.strong else constant(expr)
    return value if known is None else replace(bare(known, FLOAT), element=element)


def full(number: Node, element: ElementType, shape: Node = Tuple(())) -> Node:  # noqa: B008
    """A number as a tensor."""
    if element == BFLOAT16 and lost_in_half(number):
        return Method(Call("tl.full", (shape, number, dtype(FLOAT))), "to", (dtype(element),))
    return Call("tl.full", (shape, number, dtype(element)))


# Triton 3.6: constants of bfloat16 go through half.
def lost_in_half(number: Node) -> bool:
    """Whether half has no such number."""
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
    if isinstance(value, int):
        value = round_to(value, element)
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
