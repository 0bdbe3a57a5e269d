"""Values: Python expressions with the type that Triton gives them; how numbers are printed and converted.

A ``Value`` is a printed expression with Triton's element type for it. ``strong`` and ``weak`` are what it may
be when the kernel runs: a tensor of that type, or a bare Python number that takes the type of its context.
A literal is weak; an ``int`` parameter may be either, as Triton turns the value 1 into a constant, and so may
the variable of a ``range`` loop, which the interpreter keeps as a Python int. ``number`` is the value it has
then, which Python computes with more digits than C; ``natural``: where that is unknown, whether it is at least 0.

``promoted`` repeats the promotions of Triton 3.6 to 3.9 (``computation_type_impl``), so that the emitter casts
where they differ from C and nowhere else.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node, Tuple, UnaryOp
from pytriton.frozen import record, replace
from pytriton.lang.recording import compare, is_finite, pinned
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, convert, round_to, scalar_of, wrap
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    ElementType,
    PointerType,
    ScalarType,
)


@record
class Value:
    """A Python expression, Triton's element type for it, and whether it may be a tensor, a number, or both."""

    node: Node
    element: ElementType
    strong: bool = True
    weak: bool = False
    number: int | float | None = None  # None: not known, as of the variable of a loop
    natural: bool = False

    @property
    def is_natural(self) -> bool:
        """Whether it is at least 0 then. That of a number is recorded, so ask only where it matters."""
        return self.natural if self.number is None else compare(self.number, ">=", 0, optional=False)


def _kind(type_: ScalarType) -> int:
    return 0 if type_.bits == 1 else 2 if type_.is_float else 1


def promoted(left: Value, right: Value, *, division: bool = False) -> ScalarType | None:
    """The type in which Triton computes on two numbers; None if it refuses or if that depends on the run."""
    if isinstance(left.element, PointerType) or isinstance(right.element, PointerType):
        return None
    return _only(left.element, left.strong, left.weak, right.element, right.strong, right.weak, division)


@cache  # of a dozen types
def _only(
    left: ScalarType,
    left_strong: bool,
    left_weak: bool,
    right: ScalarType,
    right_strong: bool,
    right_weak: bool,
    division: bool,
) -> ScalarType | None:
    """The type of all cases that can be, if it is the same."""
    types = {
        _computation(left, left_bare, right, right_bare, division)
        for left_bare, left_possible in ((False, left_strong), (True, left_weak))
        for right_bare, right_possible in ((False, right_strong), (True, right_weak))
        if left_possible and right_possible
    }
    return types.pop() if len(types) == 1 else None


def _computation(
    left: ScalarType, left_weak: bool, right: ScalarType, right_weak: bool, division: bool
) -> ScalarType | None:
    if left_weak and right_weak:
        # Python's own arithmetic: exact on integers, double on floats; it gets its type where it is used.
        if left.is_float or right.is_float:
            return left if left.is_float else right
        return LONG if LONG in (left, right) else INT
    if left_weak != right_weak:
        number, tensor = (left, right) if left_weak else (right, left)
        if number.is_float:  # Triton takes a Python float for a float32, of whatever type it is
            number = FLOAT
        elif _kind(number) > _kind(tensor):  # and an integer for an int32 if it fits
            if number.bits > 32 or number.kind == "uint":
                return None
            number = INT
        left, right = number, tensor
        if _kind(number) <= _kind(tensor):
            left = right = tensor
    if DOUBLE in (left, right):
        return DOUBLE
    if division and (left.is_float or right.is_float):
        return FLOAT
    if FLOAT in (left, right):
        return FLOAT
    if HALF in (left, right):
        return HALF
    if BFLOAT16 in (left, right):
        return BFLOAT16 if left == right else FLOAT
    if division and left.kind != right.kind:
        return None
    if left.kind == right.kind or left.signed == right.signed:
        return left if left.bits >= right.bits else right
    unsigned, signed = (left, right) if not left.signed else (right, left)
    return unsigned if unsigned.bits >= signed.bits else signed


def shifts(first: Value, second: Value, common: ScalarType) -> bool:
    """Whether a shift is one of the common type: a bare number has the sign of the other operand in Triton."""
    return first.element == common and (not first.weak or second.element == common)


# ---------------------------------------------------------------- numbers and types in Python


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
    return left == right or (left != left and right != right)  # both are NaN


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
    if not isinstance(value, float) or _is_normal(value):
        return False
    return _negative_zero(value) if value == 0 else element == FLOAT and value == value


_LEAST_NORMAL: Final = 1e-37  # a float from here on has all its digits


def _is_normal(value: int | float) -> bool:
    """Whether a number is neither zero nor NaN, nor too small for a normal float."""
    return value >= _LEAST_NORMAL or value <= -_LEAST_NORMAL


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
    return value == 0 and math.copysign(1, pinned(value)) < 0


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
    printed_number = float(node.text) if element.is_float and isinstance(node, Atom) else value
    return Value(node, element, False, True, printed_number)


def rounded(value: Value, expr: Expr, element: ScalarType) -> Value:
    """A number with all digits of the narrow type that it has in C."""
    constant_value = None if value.strong else constant(expr)
    return value if constant_value is None else replace(bare(constant_value, FLOAT), element=element)


def full(number: Node, element: ElementType, shape: Node = Tuple(())) -> Node:  # noqa: B008
    """A number as a tensor."""
    if element == BFLOAT16 and lost_in_half(number):
        return Method(Call("tl.full", (shape, number, dtype(FLOAT))), "to", (dtype(element),))
    return Call("tl.full", (shape, number, dtype(element)))


# Triton 3.6: constants of bfloat16 go through half.
def lost_in_half(number: Node) -> bool:
    """Whether half cannot represent the number."""
    try:
        value = float(number.text) if isinstance(number, Atom) else 0.0
    except ValueError:
        return False
    return round_to(round_to(value, BFLOAT16), HALF) != round_to(value, BFLOAT16)


def is_one(expr: Expr) -> bool:
    """Whether an operand is an integer define that is 1 here."""
    while isinstance(expr, typed.Cast):
        expr = expr.operand
    return (
        isinstance(expr, typed.Constexpr)
        and isinstance(expr.value, int)
        and compare(expr.value, "==", 1, optional=False)
    )


def is_float32(expr: Expr) -> bool:
    """Whether Triton makes a float32 of this constant alone: of what that has too few digits for, a float64."""
    value = expr.value if isinstance(expr, typed.Constexpr) else constant(expr)
    if value is None:
        return False
    if _is_normal(value):
        return -(2.0**128) < value < 2.0**128 or not is_finite(value)
    return value == 0 or math.isnan(pinned(value))


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
    value = pinned(value)
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


# ---------------------------------------------------------------- conversions, as Triton makes them


def as_type(value: Value, element: ElementType) -> Value:
    """The value converted to an element type."""
    if value.element == element:
        return value
    if converts_otherwise(value, element):
        value = as_tensor(value)
    if element == BOOL:
        if isinstance(value.element, PointerType):
            value = Value(Method(value.node, "to", (Atom("tl.int64"),)), LONG)
        zero = Atom("0.0" if isinstance(value.element, ScalarType) and value.element.is_float else "0")
        true = None if value.number is None else value.number != 0
        return Value(BinOp("!=", value.node, zero), BOOL, value.strong, value.weak, true, value.weak)
    number = value.element if isinstance(value.element, ScalarType) else None
    if isinstance(element, PointerType) and number is not None and (value.weak or number.bits < 64):
        value = as_tensor(as_type(value, LONG))  # Triton makes a pointer of 64 bits only
    if value.weak:
        return Value(Call("tl.cast", (value.node, dtype(element))), element)
    return Value(Method(value.node, "to", (dtype(element),)), element)


def as_tensor(value: Value) -> Value:
    """The value as a tensor of its own type."""
    if not value.weak:
        return value
    if value.strong:
        return Value(Call("tl.cast", (value.node, dtype(value.element))), value.element)
    return Value(full(value.node, value.element), value.element)


# Triton 3.6: a number in a comparison counts as a float32, whatever it is compared with.
def compared(value: Value, expr: Expr, common: ScalarType) -> Value:
    """An operand of a comparison."""
    if common == DOUBLE:
        constant_value = None if value.strong else constant(expr)
        return (
            value
            if constant_value is None or round_to(constant_value, FLOAT) == constant_value
            else as_tensor(value)
        )
    narrow = common.is_float and common.bits == 16
    return rounded(value, expr, common) if narrow else value


def place(value: Value, have: tuple[int, ...], want: tuple[int, ...]) -> Node:
    """A block with leading axes added up to the rank of ``want``; tl.load and tl.store do the rest."""
    if have and len(have) < len(want):
        items = ["None"] * (len(want) - len(have)) + [":"] * len(have)
        return Index(value.node, ", ".join(items))
    return value.node


# ---------------------------------------------------------------- operators on values


_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def negated(operand: Expr, value: Value) -> Value:
    node = value.node
    number = None if value.number is None else not value.number
    if isinstance(node, BinOp) and _negates(node.operator, operand):
        flipped = BinOp(_NEGATED[node.operator], node.left, node.right)
        return Value(flipped, BOOL, value.strong, value.weak, number, value.weak)
    if not value.weak:
        return Value(UnaryOp("~", node), BOOL)
    if not value.strong:
        return Value(UnaryOp("not", node), BOOL, False, True, number, True)
    return Value(BinOp("==", node, Atom("0")), BOOL, value.strong, value.weak, number, True)


def _negates(operator: str, comparison: Expr) -> bool:
    """Whether the opposite operator negates a comparison: not ``<`` of floats, as NaN is unordered."""
    if operator in ("==", "!="):
        return True
    if operator not in _NEGATED or not isinstance(comparison, typed.Binary):
        return False
    scalar = scalar_of(comparison.left.type)
    return scalar is None or not scalar.is_float


def integer_division(expr: typed.Binary, first: Value, second: Value, common: ScalarType) -> Value:
    """``/`` and ``%`` on integers: Triton truncates on tensors, Python floors on numbers."""
    operator = "//" if expr.operator == "/" else "%"
    counted = first.number is not None and second.number is not None  # and Python's quotient is C's
    if first.weak and second.weak and not (counted or (first.is_natural and second.is_natural)):
        first = as_tensor(first)
    if first.element == BOOL and not first.weak:
        first = as_type(first, common)
    node = BinOp(operator, first.node, second.node)
    strong, weak = first.strong or second.strong, first.weak and second.weak
    return Value(node, common, strong, weak, computed(expr, first, second), weak)


def exact_bfloat16(value: Value) -> Value:
    """A bfloat16 number that Triton might lose as a tensor."""
    is_number = value.element == BFLOAT16 and not value.strong
    return as_tensor(value) if is_number and lost_in_half(value.node) else value
