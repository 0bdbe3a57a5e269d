"""Typed expressions -> Python expressions with the same meaning in Triton.

Input: a typed expression. Output: a ``Value`` whose element type is exactly the typed one. C's conversions are
explicit in the tree; one is written down only where Triton's own promotion (values.py) would not do the same.
Invariant: whatever ``lower`` returns may be used wherever the typed expression may.
"""

from __future__ import annotations

from pytriton.emit.context import Context, lower, node_of, shape_node, size_node, tensor_of
from pytriton.emit.conversions import as_type, place
from pytriton.emit.functions import call
from pytriton.emit.memory import atomic, load
from pytriton.emit.numbers import bare, dtype, full, unspelled
from pytriton.emit.operators import binary, cast, dot, numbers, select, unary
from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node, Tuple
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer, scalar_of
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import BOOL, FLOAT, INT, LONG, PointerType, ScalarType, element_of, shape_of

__all__ = ["lower_expression"]


def lower_expression(expr: Expr, context: Context) -> Value:
    """The expression in Python."""
    match expr:
        case typed.Literal():
            return _literal(expr)
        case typed.Constexpr():
            return _constexpr(expr, context)
        case typed.Name():
            return _name(expr, context)
        case typed.Unary():
            return unary(expr, context)
        case typed.Binary():
            return binary(expr, context)
        case typed.Select():
            return select(expr, context)
        case typed.Load():
            return load(expr, context)
        case typed.Cast():
            return cast(expr, context)
        case typed.Bitcast():
            return _bitcast(expr, context)
        case typed.Broadcast():
            return _broadcast(expr, context)
        case typed.Reshape():
            return _reshape(expr, context)
        case typed.Expand():
            return _expand(expr, context)
        case typed.Gather():
            return _gather(expr, context)
        case typed.Permute():
            return _permute(expr, context)
        case typed.Reduce():
            return _reduce(expr, context)
        case typed.Range():
            return _range(expr, context)
        case typed.Dot():
            return dot(expr, context)
        case typed.Call():
            return call(expr, context)
        case typed.Atomic():
            return atomic(expr, context)
        case typed.Sequenced():
            raise AssertionError("lang/tree/effects.py leaves none")


# ---------------------------------------------------------------- leaves


def _literal(expr: typed.Literal) -> Value:
    element = scalar_of(expr.type)
    assert element is not None
    return bare(expr.value, element)


def _constexpr(expr: typed.Constexpr, context: Context) -> Value:
    element = scalar_of(expr.type)
    assert element is not None
    value = constant(expr)
    if value is not None and unspelled(value, element):
        return bare(value, element)
    name = context.names.constexpr(expr.name, expr.value)
    return Value(Atom(name), element, False, True, expr.value, expr.value >= 0)


def _name(expr: typed.Name, context: Context) -> Value:
    symbol = expr.symbol
    if symbol.value is not None:
        return _literal(typed.Literal(expr.span, expr.type, symbol.value))
    element = element_of(symbol.type)
    weak = symbol in context.names.weak
    number = 1 if weak and symbol.parameter else None  # Triton makes constants of ones only
    natural = number is not None or symbol in context.names.natural
    return Value(Atom(context.names[symbol]), element, True, weak, number, natural)


def _range(expr: typed.Range, context: Context) -> Value:
    first = integer(expr.start)
    length = shape_of(expr.type)[0]
    if first >= 0 and length + first == constant(expr.stop):
        return Value(Call("tl.arange", (node_of(expr.start, context), node_of(expr.stop, context))), INT)
    # tl.arange starts at 0 or above, and has a power of two of elements
    indices = Call("tl.arange", (Atom("0"), size_node(length, context)))
    if first == 0:
        return Value(indices, INT)
    offset = Atom(str(-first)) if first < 0 else node_of(expr.start, context)
    return Value(BinOp("-" if first < 0 else "+", indices, offset), INT)


def _bitcast(expr: typed.Bitcast, context: Context) -> Value:
    element = element_of(expr.type)
    value = tensor_of(expr.operand, context)
    return Value(Call("tl.cast", (value.node, dtype(element)), (("bitcast", Atom("True")),)), element)


# ---------------------------------------------------------------- shapes


def _broadcast(expr: typed.Broadcast, context: Context) -> Value:
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    have, want = shape_of(expr.operand.type), shape_of(expr.type)
    shape = shape_node(want, context)
    if not have and isinstance(element, ScalarType):
        if constant(expr.operand) == 0 and not unspelled(constant(expr.operand), element):
            return Value(Call("tl.zeros", (shape,), (("dtype", dtype(element)),)), element)
        return Value(full(value.node, element, shape), element)
    return Value(Call("tl.broadcast_to", (place(value, have, want), shape)), element)


def _reshape(expr: typed.Reshape, context: Context) -> Value:
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    want = shape_of(expr.type)
    if want:
        return Value(Call("tl.reshape", (value.node, shape_node(want, context))), element)
    node = value.node
    if isinstance(element, PointerType):
        node = Method(node, "to", (Atom("tl.int64"),))
    if len(shape_of(expr.operand.type)) > 1:
        node = Call("tl.reshape", (node, Tuple((Atom("1"),))))
    if element == BOOL:
        node = Method(node, "to", (Atom("tl.int32"),))
    total: Node = Call("tl.sum", (node,), (("axis", Atom("0")),))
    if isinstance(element, PointerType):
        return as_type(Value(total, LONG), element)
    if isinstance(element, ScalarType) and element.bits < 32:
        return as_type(Value(total, FLOAT if element.is_float else INT), element)
    return Value(total, element)


def _expand(expr: typed.Expand, context: Context) -> Value:
    value = tensor_of(expr.operand, context)
    items = ", ".join("None" if new else ":" for new in expr.axes)
    return Value(Index(value.node, items), value.element)


def _gather(expr: typed.Gather, context: Context) -> Value:
    operand, index = lower(expr.operand, context), lower(expr.index, context)
    return Value(Call("tl.gather", (operand.node, index.node), (("axis", Atom("0")),)), operand.element)


def _permute(expr: typed.Permute, context: Context) -> Value:
    value = lower(expr.operand, context)
    if expr.order == (1, 0):
        return Value(Call("tl.trans", (value.node,)), value.element)
    return Value(Call("tl.permute", (value.node, numbers(expr.order))), value.element)


def _reduce(expr: typed.Reduce, context: Context) -> Value:
    value = lower(expr.operand, context)
    element = value.element
    assert isinstance(element, ScalarType)
    wide = as_type(value, FLOAT) if element.is_float and element.bits == 16 else value
    function = {"+": "tl.sum", "max": "tl.max", "min": "tl.min"}[expr.operator]
    call = Call(function, (wide.node,), (("axis", Atom(str(expr.axis))),))
    return as_type(Value(call, wide.element), element)
