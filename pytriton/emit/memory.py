"""Pointers that move, loads and atomics -> Triton's, which widen and convert by rules of their own.

An access with a site is printed as the call of a helper (templates/checked.py.j2), which gets beside Triton's own
arguments the table of storages and reports, and the number of the site. What an inspector does beside computing
(passes/check/inspector.py) are calls of the helpers in templates/inspector.py.j2, which share its table.
"""

from __future__ import annotations

from typing import Final

from pytriton.emit.context import Context, lower, node_of, tensor_of
from pytriton.emit.conversions import as_tensor, as_type, compared, place
from pytriton.emit.numbers import byte_count, dtype, number
from pytriton.emit.python import Atom, BinOp, Call, Method, Node, UnaryOp
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, wrap
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import BOOL, DOUBLE, INT, LONG, PointerType, ScalarType, element_of, shape_of

__all__ = [
    "COMPARISONS",
    "INSPECTING",
    "atomic",
    "checked",
    "inspecting",
    "load",
    "mask_node",
    "pointer_arithmetic",
]

COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!="))
INSPECTING: Final = frozenset(("bound", "inspected", "looked_up", "narrow"))


def pointer_arithmetic(expr: typed.Binary, context: Context) -> Value:
    """``p + i``, ``p - i``, ``p - q`` and comparisons of pointers."""
    first, second = lower(expr.left, context), lower(expr.right, context)
    element = element_of(expr.type)
    if expr.operator in COMPARISONS:
        return Value(BinOp(expr.operator, first.node, second.node), BOOL)
    if isinstance(second.element, PointerType):
        width = byte_count(second.element.element)
        addresses = [Method(side.node, "to", (Atom("tl.int64"),)) for side in (first, second)]
        distance = BinOp("-", addresses[0], addresses[1])
        return Value(BinOp("//", distance, Atom(str(width))), LONG)
    if expr.operator == "-":
        return _moved_back(expr, first, second, context)
    return Value(BinOp("+", first.node, second.node), element)


def _moved_back(expr: typed.Binary, pointer: Value, offset: Value, context: Context) -> Value:
    """A pointer less an offset: Triton negates in the type of the offset, and widens what comes out."""
    known = None if offset.strong else offset.number
    if known is None:
        wide = isinstance(offset.element, ScalarType) and offset.element.bits == 64
        offset = offset if wide or _is_natural(expr.right, context) else as_type(offset, LONG)
    elif not -(1 << 31) < known < 1 << 31:
        back = number(wrap(-int(known), LONG), LONG)
        named = isinstance(expr.right, typed.Constexpr) and 0 < known < 1 << 63
        back = UnaryOp("-", offset.node) if named else back
        return Value(BinOp("+", pointer.node, back), pointer.element)
    return Value(BinOp("-", pointer.node, offset.node), pointer.element)


def _is_natural(offset: Expr, context: Context) -> bool:
    """Whether a signed offset is one of a range, or the variable of a loop: at least 0."""
    while isinstance(offset, typed.Expand | typed.Broadcast):
        offset = offset.operand
    if isinstance(offset, typed.Range):
        return (constant(offset.start) or 0) >= 0
    return isinstance(offset, typed.Name) and offset.symbol in context.names.natural


def load(expr: typed.Load, context: Context) -> Value:
    """``*p`` as ``tl.load``."""
    pointer = lower(expr.pointer, context)
    element = element_of(expr.type)
    want = shape_of(expr.pointer.type)
    keywords: list[tuple[str, Node]] = []
    if expr.mask is not None:
        keywords.append(("mask", mask_node(expr.mask, want, context)))
        if expr.other is not None:
            other = lower(expr.other, context)
            if element == DOUBLE:
                other = compared(other, expr.other, DOUBLE)
            keywords.append(("other", place(other, shape_of(expr.other.type), want)))
    if expr.site is not None:
        given = dict(keywords)
        other_node = given.get("other", Atom("None"))
        call = checked("load", expr.site, (pointer.node,), given.get("mask"), context, other_node)
    else:
        call = Call("tl.load", (pointer.node,), tuple(keywords))
    if isinstance(element, PointerType):
        return Value(Method(call, "to", (dtype(element),)), element)
    return Value(call, element)


def mask_node(mask: Expr, want: tuple[int, ...], context: Context) -> Node:
    """A mask with the rank of the pointer."""
    return place(lower(mask, context), shape_of(mask.type), want)


def atomic(expr: typed.Atomic, context: Context) -> Value:
    """An atomic operation as Triton's."""
    want = shape_of(expr.pointer.type)
    arguments = [node_of(expr.pointer, context)]
    if expr.compare is not None:
        compare = lower(expr.compare, context)
        compare = compare if compare.element == INT else as_tensor(compare)
        arguments.append(place(compare, shape_of(expr.compare.type), want))
    element = element_of(expr.type)
    value = lower(expr.value, context)
    if element == DOUBLE:
        value = compared(value, expr.value, DOUBLE)
    if expr.compare is not None and value.element != INT:  # tl.atomic_cas converts nothing
        value = as_tensor(value)
    arguments.append(place(value, shape_of(expr.value.type), want))
    keywords: tuple[tuple[str, Node], ...] = ()
    if expr.mask is not None:
        mask = lower(expr.mask, context)
        mask = as_tensor(mask) if mask.strong else mask  # atomics take no number for a mask
        keywords = (("mask", place(mask, shape_of(expr.mask.type), want)),)
    if expr.site is not None:
        mask_given = dict(keywords).get("mask")
        name = f"atomic_{expr.operation}"
        return Value(checked(name, expr.site, tuple(arguments), mask_given, context), element)
    return Value(Call(f"tl.atomic_{expr.operation}", tuple(arguments), keywords), element)


def checked(
    name: str, number: int, operands: tuple[Node, ...], mask: Node | None, context: Context, *more: Node
) -> Call:
    """The call of a helper that makes the access only where it is inside; ``True`` stands for no mask."""
    assert context.names.table is not None
    context.helpers.add(f"checked_{name}")
    numbers = [Atom(str(word)) for word in (number, len(context.sites[number].shape))]
    return Call(
        f"checked_{name}",
        (*operands, mask or Atom("True"), *more, Atom(context.names.table), *numbers),
    )


def inspecting(expr: typed.Call, context: Context) -> Value:
    """A call that only an inspector makes."""
    table: Node = Atom(context.names.table or "")
    if expr.function == "bound":
        place = node_of(expr.arguments[0], context)
        return Value(Call("tl.load", (BinOp("+", table, place),)), LONG)
    nodes = tuple(node_of(argument, context) for argument in expr.arguments)
    if expr.function == "looked_up":
        context.helpers.add("looked_up")
        call = Call("looked_up", nodes)
        element = element_of(expr.type)
        if isinstance(element, PointerType):
            return Value(Method(call, "to", (dtype(element),)), element)
        return Value(call, element)
    if expr.function == "narrow":
        nodes = tuple(tensor_of(argument, context).node for argument in expr.arguments)
        name, count = "narrow", len(nodes) - 1
    else:
        name, count = "inspected", (len(nodes) - 5) // 2
    context.helpers |= {name, f"{name}_{count}"}
    return Value(Call(f"{name}_{count}", (table, *nodes)), BOOL)
