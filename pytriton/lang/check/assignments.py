"""Assignments, stores, and what else an expression does besides having a value.

Input: an expression as parsed. Output: the statements that it stands for. A side effect inside an expression
(``b = a++``, ``while (n-- > 0)``) is a statement of a ``Sequenced``; tree/effects.py puts it in its place. What C
might not evaluate (a branch of ``?:``, right of ``&&`` and ``||``) has none: expressions.py refuses it.
"""

from __future__ import annotations

import math
import re

from pytriton.frozen import replace
from pytriton.lang.check import operators
from pytriton.lang.check.constants import shapes_note
from pytriton.lang.check.context import Context, failed, value_of
from pytriton.lang.parse import syntax
from pytriton.lang.parse.habits import COMMENTED_OUT, divides, type_cure
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import as_condition, scalar_of, to_shape
from pytriton.lang.tree.effects import after, has_effect, kept
from pytriton.lang.tree.typed import Expr, Statement, Symbol
from pytriton.lang.tree.types import broadcast_shapes, element_of, shape_of, with_element
from pytriton.lang.tree.walk import walk
from pytriton.source import Span

# ---------------------------------------------------------------- side effects


def effect_value(
    node: syntax.Assign | syntax.Postfix | syntax.Prefix | syntax.Comma, context: Context
) -> Expr:
    """The value of an expression that also does something."""
    match node:
        case syntax.Comma(items=items):
            before = [statement for item in items[:-1] for statement in effect(item, context)]
            return after(before, value_of(items[-1], context))
        case syntax.Assign():
            return _value_of(_assign(node, context), node)
        case syntax.Prefix() | syntax.Postfix():
            return _value_of(_assign(_increment(node), context), node)


def _value_of(statements: list[Statement], node: syntax.Expr) -> Expr:
    """The value of an assignment: that of its target, afterwards; of ``x++`` before."""
    old = isinstance(node, syntax.Postfix)
    declared: list[Statement] = []
    match statements:
        case [typed.Assign(symbol=symbol)]:
            value: Expr = typed.Name(node.span, symbol.type, symbol)
            value = kept(value, f"old_{symbol.name}", declared) if old else value
            return after([*declared, *statements], value)
        case [*before, typed.Store(value=value) as store]:
            if old:
                loaded = next(part for part in walk(value) if isinstance(part, typed.Load))
                value = kept(loaded, "old", declared)
                return after([*before, *declared, store], value)
            if not isinstance(value, typed.Name | typed.Literal | typed.Constexpr):
                value = kept(value, "value", declared)
            return after([*before, replace(store, value=after(declared, value))], value)
    return failed(node.span)


def tested_condition(node: syntax.Expr, where: str, context: Context) -> Expr:
    """A scalar truth value for ``if`` and loops."""
    if isinstance(node, syntax.Assign) and node.operator == "=":
        help_ = "to compare, write '=='"
        context.report.warning("TC325", "an assignment is used as a condition", node.span, help=help_)
    expr = value_of(node, context)
    if expr.type == types.ERROR:
        return expr
    if isinstance(expr.type, types.BlockType):
        return context.refuse(
            "TC312",
            f"the condition of '{where}' is a block of type {expr.type}, not a scalar",
            node.span,
            help="use 'condition ? a : b', or '*?(condition)p' to load and store under a mask",
        )
    return as_condition(expr)


# ---------------------------------------------------------------- assignments


def effect(node: syntax.Expr, context: Context) -> list[Statement]:
    """An expression that is evaluated for what it does."""
    if isinstance(node, syntax.Comma):
        return [statement for item in node.items for statement in effect(item, context)]
    match node:
        case syntax.Assign():
            return _assign(node, context)
        case syntax.Postfix() | syntax.Prefix(operator="++" | "--"):
            return _assign(_increment(node), context)
        case syntax.Binary() if _is_unknown_type(node, context):
            return []
        case _:
            value = context.check_expression(node, context)
            if value.type == types.ERROR:
                return []
            if not has_effect(value):
                context.report.warning("TC324", "this expression has no effect", node.span)
                return []
            return [typed.Evaluate(node.span, value)]


def _assign(node: syntax.Assign, context: Context) -> list[Statement]:
    match node.target:
        case syntax.Name():
            return _assign_name(node, node.target, context)
        case syntax.Prefix(operator="*", operand=pointer):
            return _store(node, pointer, None, context)
        case syntax.MaskedDeref(mask=mask, pointer=pointer):
            return _store(node, pointer, mask, context)
        case _:
            _refuse_target(node.target, context)
            return []


def _refuse_target(target: syntax.Expr, context: Context) -> None:
    """Say why this cannot be assigned to."""
    message = "this cannot be assigned to"
    help_ = "assign to a name, to '*pointer' or to '*?(mask)pointer'"
    first = target
    while isinstance(first, syntax.Binary):
        first = first.left
    match target:
        case syntax.Binary() if _is_unknown_type(target, context):
            return
        case _ if (
            isinstance(first, syntax.Call) and context.check_expression(first, context).type == types.ERROR
        ):
            return  # `elif (c) *p = x`: the call was reported
        case syntax.Binary(operator="*") if (end := _unfinished(target)) is not None:
            word = re.search(r"[\w.]+$|.$", end.source.text[: end.end])
            cure = COMMENTED_OUT if divides(end.source.text[end.end : target.right.span.start]) else None
            message = f"expected ';' after '{word[0] if word else end.text}'"
            context.report.error("TC202", message, end, help=cure)
            return
        case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.MaskedDeref):
            help_ = f"a mask binds tighter than '{sign}': write '*?(mask)(p {sign} i) = x'"
        case syntax.Binary(operator="+" | "-" as sign) if isinstance(first, syntax.Prefix):
            help_ = f"'*' binds tighter than '{sign}': write '*(p {sign} i) = x'"
        case syntax.Constexpr(id=name):
            value = context.scope.numbers[name]
            message = f"'{name}' is a define, {value} here, and cannot be assigned to"
            help_ = "declare a variable of another name"
        case syntax.Subscript():
            help_ = "'*(p + i) = x' stores one element, 'c ? a : b' changes a part of a block"
    context.report.error("TC315", message, target.span, help=help_)


def _unfinished(product: syntax.Binary) -> Span | None:
    """The end of ``int m = n``, where ``*p = x`` on the next line was read as a factor; None in other products."""
    left, right = product.left.span, product.right.span
    if left.source is not right.source or left.expansion or right.expansion:
        return None
    between = left.source.text[left.end : right.start]
    return Span(left.source, left.end - 1, left.end) if "\n" in between.partition("*")[0] else None


def _is_unknown_type(node: syntax.Binary, context: Context) -> bool:
    """Whether this product is ``TYPE *p`` with a ``TYPE`` that nothing defines: an error, reported once."""
    left, right = node.left, node.right
    right = right.operand if isinstance(right, syntax.Subscript) else right
    if node.operator != "*" or not isinstance(left, syntax.Name) or not isinstance(right, syntax.Name):
        return False
    if context.scope.find(left.id) is not None or context.scope.find(right.id) is not None:
        return False
    context.report.error("TC203", f"unknown type '{left.id}'", left.span, help=type_cure(left.id))
    context.scope.declare(Symbol(right.id, types.ERROR, right.span), context.report)  # type: ignore[arg-type]
    return True


def _assign_name(node: syntax.Assign, target: syntax.Name, context: Context) -> list[Statement]:
    left, right = value_of(target, context), value_of(node.value, context)
    if types.ERROR in (left.type, right.type):
        return []
    assert isinstance(left, typed.Name)
    symbol = left.symbol
    if symbol.const or symbol.value is not None or symbol.buffer:
        context.report.error(
            "TC315",
            f"'{symbol.name}' is a constant, and cannot be assigned to",
            node.span,
            ("it was declared here", symbol.span),
            help="remove its 'const', or assign to another variable" if symbol.const else None,
        )
        return []
    right = _combined(node, left, right, context)
    value = operators.conversion(right, symbol.type, node.value.span, f"assign to '{symbol.name}'", context)
    return [] if value.type == types.ERROR else [typed.Assign(node.span, symbol, value)]


def _combined(node: syntax.Assign, left: Expr, right: Expr, context: Context) -> Expr:
    """The value that a compound assignment stores: ``left op right``."""
    if node.operator == "=":
        return right
    operator = node.operator[:-1]
    shape = operators.broadcast(left, right, node.span, f"'{node.operator}'", context)
    if shape is None:
        return typed.Name(node.span, types.ERROR, Symbol("", left.type, node.span))  # type: ignore[arg-type]
    if scalar_of(left.type) is None or scalar_of(right.type) is None:
        return operators.pointer_arithmetic(operator, left, right, shape, node.span, context)
    return operators.arithmetic(operator, left, right, shape, node.span, context)


def _store(
    node: syntax.Assign, pointer_node: syntax.Expr, mask_node: syntax.Expr | None, context: Context
) -> list[Statement]:
    pointer, value = value_of(pointer_node, context), value_of(node.value, context)
    mask = None if mask_node is None else value_of(mask_node, context)
    if types.ERROR in (pointer.type, value.type, None if mask is None else mask.type):
        return []
    element = element_of(pointer.type)
    if not isinstance(element, types.PointerType):
        message = f"'*' requires a pointer, not a value of type {pointer.type}"
        help_ = "'*p = x' stores through a pointer; a name is assigned without '*'"
        context.report.error("TC311", message, pointer.span, help=help_)
        return []
    before: list[Statement] = []
    if node.operator != "=":
        if has_effect(pointer) or (mask is not None and has_effect(mask)):
            mask = None if mask is None else kept(mask, "mask", before)
            pointer = kept(pointer, "pointer", before)
        loaded = operators.load(pointer, node.target.span, context, mask)
        value = _combined(node, loaded, value, context)
        if value.type == types.ERROR:
            return []
    condition = None if mask is None else as_condition(mask)
    if condition is not None:
        placed = operators.under_mask(pointer, condition, node.span, context)
        if placed is None:
            return []
        pointer = placed
    pointer = _spread(pointer, value, node, context)
    type_ = with_element(element.element, shape_of(pointer.type))
    value = operators.conversion(value, type_, node.value.span, "store", context)
    return [] if value.type == types.ERROR else [*before, typed.Store(node.span, pointer, value, condition)]


def _spread(pointer: Expr, value: Expr, node: syntax.Assign, context: Context) -> Expr:
    """Pointer, mask and stored value broadcast together; warns of several values for one address."""
    own = shape_of(pointer.type)
    shape = broadcast_shapes(own, shape_of(value.type))
    if shape is None or (len(shape) > len(own) and own):
        return pointer
    count = math.prod(shape) // math.prod(own)
    if count > 1:
        name = node.value.id if isinstance(node.value, syntax.Name) else "x"
        axes = [", ".join([operator] * len(shape)) for operator in ("+", "max")]
        help_ = f"reduce the block first, as in '{name}[{axes[0]}]' or '{name}[{axes[1]}]'"
        help_ = "reduce that axis first, or give the pointer one address for each value" if own else help_
        message = f"this stores {count} values of a block to one address: which one stays is undefined"
        context.report.warning("TC332", message, node.span, *shapes_note(value), help=help_)
    return to_shape(pointer, shape) or pointer


def _increment(node: syntax.Postfix | syntax.Prefix) -> syntax.Assign:
    """``x++`` and ``++x`` as ``x += 1``."""
    return syntax.Assign(node.span, node.operator[0] + "=", node.operand, syntax.Number(node.span, "1"))
