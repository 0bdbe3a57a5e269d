"""``x[...]``: new axes, reductions and permutations (docs/language.md, Operators).

A subscript is read item by item against the axes of its operand: ``:`` keeps one, ``+``, ``max`` and ``min``
reduce the one at their place, ``newaxis`` uses none. ``^k`` items name all axes in a new order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from typing import Literal as Choice

from pytriton.errors import closest
from pytriton.lang.check.constants import integer_constant, shapes_note
from pytriton.lang.check.context import Context, failed
from pytriton.lang.check.operators import LOADS
from pytriton.lang.parse import syntax
from pytriton.lang.tree.convert import convert, scalar_of, settle
from pytriton.lang.tree.typed import Expand, Expr, Permute, Reduce
from pytriton.lang.tree.types import BlockType, PointerType, element_of, promote, shape_of, with_element
from pytriton.source import Span

_Operator = Choice["+", "max", "min"]
_OTHER_ITEMS: Final = {
    "None": "write 'newaxis'",
    "sum": "write '+'",
    **dict.fromkeys(["mean", "avg"], "write 'x[+] / TM'"),
    **dict.fromkeys(["argmax", "argmin", "prod", "any", "all"], "the reductions are '+', 'max' and 'min'"),
}
_REDUCTIONS: Final[dict[str, _Operator]] = {"+": "+", "max": "max", "min": "min"}


def subscript(node: syntax.Subscript, operand: Expr, context: Context) -> Expr:
    """The operand under the items of the subscript."""
    if not isinstance(operand.type, BlockType):
        return context.refuse(
            "TC310",
            f"a value of type {operand.type} has no axes to subscript",
            node.span,
            help="write '*(p + i)' to load one element"
            if isinstance(operand.type, PointerType)
            else "a scalar is one number already; remove the subscript",
        )
    if any(isinstance(item, syntax.Prefix) and item.operator == "^" for item in node.items):
        return _permutation(node, operand, context)
    new_axes: list[bool] = []  # for each axis of the result
    reductions: list[tuple[int, _Operator]] = []
    axis = 0
    for item in node.items:
        word = _word(item)
        if word == "newaxis":
            new_axes.append(True)
            continue
        if word == ":":
            new_axes.append(False)
        elif word in _REDUCTIONS:
            reductions.append((axis, _REDUCTIONS[word]))
        else:
            _refuse_item(item, word, context)
            return failed(node.span)
        axis += 1
    if axis != len(operand.type.shape):
        used, rank = "1 axis" if axis == 1 else f"{axis} axes", len(operand.type.shape)
        return context.refuse(
            "TC310",
            f"this subscript uses {used}, but a block of type {operand.type} has {rank}",
            node.span,
            *shapes_note(operand),
            help=_with_axes([_word(item) or "" for item in node.items], rank - axis),
        )
    for position, operator in reversed(reductions):
        operand = _reduce(operand, operator, position, node.span, context)
    return _expand(operand, tuple(new_axes), node.span) if any(new_axes) else operand


def _with_axes(words: list[str], missing: int) -> str:
    """The subscript with so many more axes that stay, or fewer where too many are named."""
    for _ in range(-missing):
        if ":" not in words:
            return "name each axis once: ':' keeps it, '+', 'max' or 'min' reduces it"
        words.pop(len(words) - 1 - words[::-1].index(":"))
    words += [":"] * missing
    return f"write 'x[{', '.join(words)}]', one item for each axis; ':' keeps it"


def permute(operand: Expr, order: Sequence[int], span: Span, context: Context) -> Expr:
    """Result axis i is operand axis ``order[i]``."""
    shape = shape_of(operand.type)
    if len(shape) < 2:
        return context.refuse(
            "TC310",
            f"a value of type {operand.type} has no axes to permute",
            span,
            help="it has one axis at most: 'x[:, newaxis]' is a column, 'x[newaxis, :]' a row",
        )
    element = element_of(operand.type)
    type_ = with_element(element, tuple(shape[axis] for axis in order))
    return Permute(span, type_, operand, tuple(order))


def _permutation(node: syntax.Subscript, operand: Expr, context: Context) -> Expr:
    order: list[int] = []
    for item in node.items:
        if not isinstance(item, syntax.Prefix) or item.operator != "^":
            help_ = "write 'x[^1, ^0]' alone, and ':' or 'newaxis' in another subscript"
            context.report.error("TC310", "'^' must name every axis of the result", item.span, help=help_)
            return failed(node.span)
        axis = integer_constant(item.operand, "an axis", context)
        if axis is None:
            return failed(node.span)
        order.append(axis.value)
    rank = len(shape_of(operand.type))
    if sorted(order) != list(range(rank)):
        return context.refuse(
            "TC310",
            f"'^' must name each of the axes 0 to {rank - 1} once, found {order}",
            node.span,
            help=f"as in x[{', '.join(f'^{axis}' for axis in reversed(range(rank)))}]",
        )
    return permute(operand, order, node.span, context)


def _reduce(operand: Expr, operator: _Operator, axis: int, span: Span, context: Context) -> Expr:
    scalar = scalar_of(operand.type)
    if operand.type == failed(span).type:
        return operand
    if scalar is None:
        return context.refuse("TC310", f"cannot reduce a block of type {operand.type}", span, help=LOADS)
    operand = convert(settle(operand), promote(scalar))
    shape = shape_of(operand.type)
    type_ = with_element(promote(scalar), shape[:axis] + shape[axis + 1 :])
    return Reduce(span, type_, operator, operand, axis)


def _refuse_item(item: syntax.Expr | syntax.Marker, word: str | None, context: Context) -> None:
    if word == "-":
        context.report.error(
            "TC404",
            "'x[-]' never had a defined order",
            item.span,
            help="write '-(x[+])', or '(-x)[+]'",
        )
    elif isinstance(item, syntax.Name) and word in _OTHER_ITEMS:
        context.report.error("TC310", f"'{word}' is not valid here", item.span, help=_OTHER_ITEMS[word])
    elif isinstance(item, syntax.Name) and context.scope.find(item.id) is None:
        context.report.error(
            "TC301",
            f"'{item.id}' is not declared",
            item.span,
            help=f"did you mean '{near}'?"
            if (near := closest(item.id, ("newaxis", "max", "min")))
            else f"give it in defines, as in defines={{'{item.id}': ':, newaxis'}}",
        )
    else:
        context.report.error(
            "TC310",
            "a subscript holds ':', 'newaxis', '+', 'max', 'min' or '^axis'",
            item.span,
            help="a block has no elements to pick; '*(p + i)' loads one from memory",
        )


def _word(item: syntax.Expr | syntax.Marker) -> str | None:
    if isinstance(item, syntax.Marker):
        return item.text
    return item.id if isinstance(item, syntax.Name) else None


def _expand(operand: Expr, axes: tuple[bool, ...], span: Span) -> Expr:
    sizes = iter(shape_of(operand.type))
    shape = tuple(1 if new else next(sizes) for new in axes)
    element = element_of(operand.type)
    return Expand(span, with_element(element, shape), operand, axes)
