"""C's conversions on the typed tree, and the value of constant expressions (docs/language.md, Conversions).

Everything here is a pure function from typed expressions to typed expressions. A conversion that changes
nothing returns its operand; one of a literal gives a literal.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, xor
from typing import Any, Final

from pytriton.frozen import replace
from pytriton.lang.recording import is_finite, is_power_of_2, is_recorded, of_one, pinned, plain
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    broadcast_shapes,
    common_scalar,
    element_of,
    same_shape,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import with_children


def scalar_of(type_: types.Type) -> types.ScalarType | None:
    """The number type of a scalar or of a block's elements; None for pointers and the rest."""
    if type_.__class__ is types.BlockType:
        type_ = type_.element
    return type_ if type_.__class__ is types.ScalarType else None


# ---------------------------------------------------------------- weak literals


def is_weak(expr: Expr) -> bool:
    """Whether the expression is made of unsuffixed floating literals only, and so has no type yet."""
    match expr:
        case typed.Literal(weak=weak) | typed.Constexpr(weak=weak):
            return weak
        case typed.Unary(operator="-", operand=operand) | typed.Sequenced(value=operand):
            return is_weak(operand)
        case typed.Binary(operator="+" | "-" | "*" | "/", left=left, right=right):
            return is_weak(right) and is_weak(left)  # a long sum is deep on its left
        case _:
            return False


def settle(expr: Expr, type_: types.ScalarType = types.FLOAT) -> Expr:
    """A weak expression as one of the floating type that it met; any other is returned as it is."""
    return _retyped(expr, type_) if is_weak(expr) else expr


def alternatives(left: Expr, right: Expr, element: types.ElementType) -> tuple[Expr, Expr]:
    """Two values of which one is taken, in their common type; of literals, as literals that a double may widen."""
    if element == types.FLOAT and (_widens(left) or _widens(right)):
        first, second = _as_literal(left), _as_literal(right)
        if first is not None and second is not None:
            return first, second
    return convert(left, element), convert(right, element)


def _as_literal(expr: Expr) -> Expr | None:
    """An integer constant as a literal like ``3.0``, and what is made of such literals; None for all else."""
    if _widens(expr):
        return expr
    value = constant(expr)
    return typed.Literal(expr.span, types.FLOAT, value, weak=True) if isinstance(value, int) else None


def _widens(expr: Expr) -> bool:
    """Whether a float is one of several literals, so that with a double it keeps a double's digits."""
    match expr:
        case typed.Select(yes=yes, no=no) | typed.Call(function="min" | "max", arguments=(yes, no)):
            return _widens(yes) and _widens(no)
        case typed.Unary(operator="-", operand=operand):
            return _widens(operand)
        case _:
            return is_weak(expr)


def met(expr: Expr, element: types.ScalarType) -> Expr:
    """Such a value as one of the floating type that it met; any other is returned as it is."""
    return _retyped(expr, element) if _widens(expr) else expr


def _retyped(expr: Expr, element: types.ScalarType) -> Expr:
    match expr:
        case typed.Literal(value=value):
            return typed.Literal(expr.span, element, round_to(value, element))
        case typed.Constexpr():
            return replace(expr, type=element, weak=False)
    changed = with_children(expr, lambda operand: met(operand, element))
    return replace(changed, type=with_element(element, shape_of(expr.type)))


def common_type(left: Expr, right: Expr) -> types.ScalarType | None:
    """The usual arithmetic conversions of two operands, weak literals included; None for pointers."""
    first, second = scalar_of(left.type), scalar_of(right.type)
    if first is None or second is None:
        return None
    if first.is_float and second.is_float and is_weak(left) != is_weak(right):
        return second if is_weak(left) else first
    return common_scalar(first, second)


# ---------------------------------------------------------------- elements


def convert(expr: Expr, element: types.ElementType) -> Expr:
    """The expression with its elements converted; the shape stays."""
    if is_weak(expr):
        if isinstance(element, types.ScalarType) and element.is_float:
            return _retyped(expr, element)
        expr = _retyped(expr, types.FLOAT)
    if element_of(expr.type) == element:
        return expr
    type_ = with_element(element, shape_of(expr.type))
    if element == types.DOUBLE and _widens(expr):
        return met(expr, types.DOUBLE)
    if isinstance(element, types.ScalarType):
        if isinstance(expr, typed.Literal):
            return typed.Literal(expr.span, element, _converted(expr.value, element))
        if element == types.BOOL:
            return _truth(expr, type_)
    return typed.Cast(expr.span, type_, expr)


def _converted(value: int | float, type_: types.ScalarType) -> int | float:
    if type_ == types.BOOL:
        return int(value != 0)
    if type_.is_float:
        return round_to(value, type_)
    if not is_finite(value):
        return 0  # C leaves it undefined
    return wrap(truncated(value), type_)


def truncated(value: int | float) -> int:
    """A number without its fraction."""
    whole: int = of_one("truncated", value, int(plain(value))) if isinstance(value, float) else value
    return whole


def _truth(expr: Expr, type_: types.Type) -> Expr:
    """``x != 0``, without the detour that ``&``, ``|`` and ``^`` of truth values take through int."""
    match expr:
        case typed.Cast(operand=operand) if scalar_of(operand.type) == types.BOOL:
            return operand
        case typed.Binary(operator="&" | "|" | "^", left=left, right=right):
            first, second = _from_bool(left), _from_bool(right)
            if first is not None and second is not None:
                return replace(expr, type=type_, left=first, right=second)
    return typed.Cast(expr.span, type_, expr)


def _from_bool(expr: Expr) -> Expr | None:
    """The bool that this int was made of, if it was."""
    if isinstance(expr, typed.Literal) and expr.value in (0, 1) and expr.type == types.INT:
        return typed.Literal(expr.span, types.BOOL, expr.value)
    truth = _truth(expr, with_element(types.BOOL, shape_of(expr.type)))
    return None if isinstance(truth, typed.Cast) and truth.operand is expr else truth


def as_condition(expr: Expr) -> Expr:
    """The expression as a truth value: ``x != 0`` for a number, "not null" for a pointer."""
    return convert(expr, types.BOOL)


# ---------------------------------------------------------------- shapes


def to_shape(expr: Expr, shape: tuple[int, ...]) -> Expr | None:
    """The expression with this shape, by C's and NumPy's rules for assignment; None if it cannot be.

    A scalar fills a block; leading axes are added and axes of size 1 repeated; one element becomes a
    scalar; equal counts at another rank reshape.
    """
    have = shape_of(expr.type)
    if same_shape(have, shape):
        return expr
    assert isinstance(expr.type, types.ScalarType | types.PointerType | types.BlockType)
    type_ = with_element(element_of(expr.type), shape)
    wide = broadcast_shapes(have, shape)
    if wide is not None and same_shape(wide, shape):
        return typed.Broadcast(expr.span, type_, expr)
    if math.prod(have) == math.prod(shape) and (len(have) != len(shape) or not shape):
        return typed.Reshape(expr.span, type_, expr)
    return None


# ---------------------------------------------------------------- values


def wrap(value: int, type_: types.ScalarType) -> int:
    """An integer reduced to a type's width, two's complement."""
    if type_.kind == "bool":
        return int(value != 0)
    if is_recorded(value) and fits(value, type_):
        return value
    value &= (1 << type_.bits) - 1
    if type_.kind == "int" and value >> (type_.bits - 1):
        value -= 1 << type_.bits
    return value


def fits(value: int, type_: types.ScalarType) -> bool:
    """Whether an integer type holds the value."""
    low = -(1 << (type_.bits - 1)) if type_.signed else 0
    return low <= value < 1 << (type_.bits - type_.signed)


_FORMATS = {types.HALF: "<e", types.BFLOAT16: "<f", types.FLOAT: "<f", types.DOUBLE: "<d"}


def round_to(value: int | float, type_: types.ScalarType) -> float:
    """A number rounded to a floating type, to nearest even; too large is infinite."""
    if is_recorded(value):
        rounded_value: float = of_one(f"as_{type_.triton}", value, round_to(plain(value), type_))
        return rounded_value
    if isinstance(value, int) and type_ != types.DOUBLE:
        value = _rounded_to_odd(value)
    try:
        value = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    try:
        if type_ == types.BFLOAT16 and math.isfinite(value):
            last = max(math.frexp(value)[1], -125) - 8  # of eight digits, as a power of two
            value = math.copysign(math.ldexp(round(math.ldexp(value, -last)), last), value)
        result: float = struct.unpack(_FORMATS[type_], struct.pack(_FORMATS[type_], value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return result


def _rounded_to_odd(value: int) -> int:
    """The integer in a double's 53 bits, the last one set if any bit was lost: so it is rounded only once."""
    lost = max(0, value.bit_length() - 53)
    magnitude = abs(value)
    magnitude = (magnitude >> lost | (magnitude & (1 << lost) - 1 != 0)) << lost
    return -magnitude if value < 0 else magnitude


def constant(expr: Expr) -> int | float | None:
    """The value of a constant expression with C's arithmetic; None if it is not constant."""
    match expr:
        case typed.Constexpr(value=float(value), type=types.ScalarType() as type_, weak=False):
            return round_to(value, type_)
        case typed.Literal(value=value) | typed.Constexpr(value=value):
            return value
        case typed.Name(symbol=symbol):
            return symbol.value
        case typed.Cast(type=types.ScalarType() as type_, operand=operand):
            inner = constant(operand)
            return None if inner is None else _converted(inner, type_)
        case typed.Unary(operator=operator, operand=operand, type=types.ScalarType() as type_):
            inner = constant(operand)
            if inner is None:
                return None
            if operator == "!":
                return int(not inner)
            return _converted(-inner if operator == "-" else ~truncated(inner), type_)
        case typed.Binary(left=left, right=right, type=types.ScalarType() as type_):
            first, second = constant(left), constant(right)
            return None if first is None or second is None else computed(expr.operator, first, second, type_)
        case typed.Call(function="next_power_of_2", arguments=(size,)):
            inner = constant(size)
            return None if inner is None else padded(truncated(inner))
        case typed.Call(function="min" | "max" as function, arguments=(left, right)):
            pair = constant(left), constant(right)
            if isinstance(pair[0], int) and isinstance(pair[1], int):
                return min(pair) if function == "min" else max(pair)  # type: ignore[type-var]
            return None
        case typed.Select(condition=condition, yes=yes, no=no):
            chosen = constant(condition)
            result = None if chosen is None else constant(yes if chosen else no)
            return (
                round_to(result, types.FLOAT) if result is not None and expr.type == types.FLOAT else result
            )
        case _:
            return None


def integer(expr: Expr) -> int:
    """The value of what is known to be an integer constant."""
    value = constant(expr)
    assert isinstance(value, int)
    return value


def computed(
    operator: str, left: int | float, right: int | float, type_: types.ScalarType
) -> int | float | None:
    """What C computes of two numbers of a type (of a shift: of the left one); None where that is undefined.

    A comparison gives 0 or 1, of operands in any common type.
    """
    if operator in TRUTHS:
        return int(TRUTHS[operator](left, right))
    if operator in ("/", "%") and not type_.is_float:
        if right == 0:
            return None
        if operator == "/":
            quotient = abs(left) // abs(right)
            return wrap(truncated(quotient if (left < 0) == (right < 0) else -quotient), type_)
        remainder = abs(left) % abs(right)
        return wrap(truncated(-remainder if left < 0 else remainder), type_)
    if operator == "/":
        if right == 0:
            if not (left < 0 or left > 0):
                return math.nan
            negative = math.copysign(1, pinned(right)) < 0
            return -math.inf if (left < 0) != negative else math.inf
        return round_to(left / right, type_)
    if operator in ("<<", ">>"):
        if not 0 <= right < type_.bits:
            return None
        first, second = truncated(left), truncated(right)
        return wrap(first << second if operator == "<<" else first >> second, type_)
    if operator in _ARITHMETIC:
        return _converted(_ARITHMETIC[operator](left, right), type_)
    return None


COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": lt,
    ">": gt,
    "<=": le,
    ">=": ge,
    "==": eq,
    "!=": ne,
}
TRUTHS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    **COMPARISONS,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}
_ARITHMETIC: Final[dict[str, Callable[[Any, Any], int | float]]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "&": and_,
    "|": or_,
    "^": xor,
}


# ---------------------------------------------------------------- limits
# How large Triton's blocks are: the limits that the checker enforces, and passes and emitter rely on.


MAX_BLOCK_ELEMENTS: Final = 1 << 20  # Triton's own limit


def padded(size: int) -> int:
    """The next power of two: the size that Triton gives to an axis of so many elements."""
    return (
        size if is_power_of_2(size) else of_one("next_power_of_2", size, 1 << (plain(size) - 1).bit_length())
    )


def min_depth(element: types.ScalarType) -> int:
    """The least inner size that ``tl.dot`` takes."""
    return 32 if element == types.CHAR else 16


def has_product(product: typed.Dot) -> bool:
    """Whether ``tl.dot`` computes a product; two axes are widened to a depth that it accepts."""
    shape, element = shape_of(product.left.type), scalar_of(product.left.type)
    if element is None or not (element.is_float or element == types.CHAR):
        return False
    return len(shape) == 2 or padded(shape[1]) >= min_depth(element)
