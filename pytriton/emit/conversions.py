"""Values -> values of another type, shape or strength, as Triton converts them; nothing here looks at a tree."""

from __future__ import annotations

from pytriton.emit.numbers import converts_otherwise, dtype, full, rounded
from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node
from pytriton.emit.values import Value
from pytriton.lang.tree.convert import constant, round_to
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import BOOL, DOUBLE, FLOAT, LONG, ElementType, PointerType, ScalarType

__all__ = ["as_tensor", "as_type", "compared", "place"]


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
        known = None if value.strong else constant(expr)
        return value if known is None or round_to(known, FLOAT) == known else as_tensor(value)
    narrow = common.is_float and common.bits == 16
    return rounded(value, expr, common) if narrow else value


def place(value: Value, have: tuple[int, ...], want: tuple[int, ...]) -> Node:
    """A block with leading axes added up to the rank of ``want``; tl.load and tl.store do the rest."""
    if have and len(have) < len(want):
        items = ["None"] * (len(want) - len(have)) + [":"] * len(have)
        return Index(value.node, ", ".join(items))
    return value.node
