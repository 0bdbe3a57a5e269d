"""The mask of a branch of ``?:``, or of the right of ``&&``, brought to each load in it (docs/language.md).

Input: a branch as checked, and where its value is wanted. Output: the branch with every load masked, so that none
touches memory for an element that is not wanted. A mask goes down through an operator that works element by element
as it is; through one that moves elements it is moved the other way: permuted back, without a new axis, spread along
an axis that was reduced. Where one element serves several places, it is loaded if any of them is wanted.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import as_condition, convert, to_shape
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BlockType,
    broadcast_shapes,
    element_of,
    is_one,
    same_shape,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import children, has_memory, walk, with_children


def masked(expr: Expr, mask: Expr) -> Expr:
    """The expression with its loads masked; where the shapes do not fit, as it is (``?:`` reports that)."""
    if not any(isinstance(node, typed.Load) for node in walk(expr)):
        return expr
    match expr:
        case typed.Load():
            return _load(expr, mask)
        case typed.Unary() | typed.Binary() | typed.Select() | typed.Call() | typed.Cast() | typed.Bitcast():
            return _elementwise(expr, mask)
        case typed.Broadcast(operand=operand):
            inner = _within(mask, shape_of(expr.type))
            inner = None if inner is None else _within(inner, shape_of(operand.type))
        case typed.Reshape(operand=operand):
            inner = _within(mask, shape_of(expr.type))
            spread = None if inner is None else to_shape(inner, shape_of(expr.type))
            inner = None if spread is None else to_shape(spread, shape_of(operand.type))
        case typed.Expand(axes=axes):
            inner = _unexpanded(_within(mask, shape_of(expr.type)), axes)
        case typed.Permute(order=order):
            inner = _permuted_back(_within(mask, shape_of(expr.type)), order)
        case typed.Reduce(axis=axis):
            inner = _along(_within(mask, shape_of(expr.type)), axis, len(shape_of(expr.type)) + 1)
        case typed.Dot(left=left, right=right):
            inner = _within(mask, shape_of(expr.type))
            if inner is None:
                return expr
            rows, columns = _any(inner, 1), _any(inner, 0)
            return replace(expr, left=masked(left, rows), right=masked(right, columns))
        case _:
            return expr
    return expr if inner is None else with_children(expr, lambda operand: masked(operand, inner))


def where_open(operator: str, left: Expr, right: Expr) -> Expr:
    """The right side of ``&&`` or ``||``: its loads only touch memory where the left side has not decided."""
    if not has_memory(right):
        return right
    return masked(right, left if operator == "&&" else typed.Unary(left.span, left.type, "!", left))


def _load(load: typed.Load, mask: Expr) -> Expr:
    pointer = masked(load.pointer, mask)
    joint_mask = mask
    if load.mask is not None:
        own = masked(load.mask, mask)
        joint = broadcast_shapes(shape_of(mask.type), shape_of(own.type))
        if joint is None:
            return load
        joint_mask = typed.Binary(mask.span, with_element(types.BOOL, joint), "&&", mask, own)
    shape = broadcast_shapes(shape_of(pointer.type), shape_of(joint_mask.type))
    placed = None if shape is None else to_shape(pointer, shape)
    if shape is None or placed is None:
        return load
    element = element_of(load.type)
    zero = convert(typed.Literal(load.span, types.INT, 0), element)
    other = zero if load.other is None else masked(load.other, mask)
    return typed.Load(load.span, with_element(element, shape), placed, joint_mask, other)


def _elementwise(expr: Expr, mask: Expr) -> Expr:
    changed = with_children(expr, lambda operand: masked(operand, mask))
    shape: tuple[int, ...] | None = ()
    for child in children(changed):
        shape = None if shape is None else broadcast_shapes(shape, shape_of(child.type))
    if shape is None:
        return expr
    return replace(changed, type=with_element(element_of(expr.type), shape))


# ---------------------------------------------------------------- masks in other shapes


def _within(mask: Expr, shape: tuple[int, ...]) -> Expr | None:
    """The mask for a value of a shape that broadcasts: with its rank (or a scalar), each axis of it or 1."""
    have = shape_of(mask.type)
    if not have:
        return mask
    for _ in range(len(have) - len(shape)):
        type_ = with_element(types.INT, shape_of(mask.type)[1:])
        mask = as_condition(typed.Reduce(mask.span, type_, "max", convert(mask, types.INT), 0))
    missing = len(shape) - len(have)
    if missing > 0 and have:
        mask = _expanded(mask, (True,) * missing + (False,) * len(have))
    for axis, (own, wanted) in enumerate(zip(shape_of(mask.type), shape, strict=True)):
        if is_one(own) or same_shape((own,), (wanted,)):
            continue
        if not is_one(wanted):
            return None
        mask = _any(mask, axis)
    return mask


def _any(mask: Expr, axis: int) -> Expr:
    """Whether any element along an axis is wanted; the axis stays, with size 1."""
    shape = shape_of(mask.type)
    if not shape or is_one(shape[axis]):
        return mask
    type_ = with_element(types.INT, shape[:axis] + shape[axis + 1 :])
    reduced = as_condition(typed.Reduce(mask.span, type_, "max", convert(mask, types.INT), axis))
    return _along(reduced, axis, len(shape)) or reduced


def _along(mask: Expr | None, axis: int, rank: int) -> Expr | None:
    """The mask with a new axis; a scalar stays one."""
    if mask is None or not shape_of(mask.type):
        return mask
    return _expanded(mask, tuple(place == axis for place in range(rank)))


def _expanded(mask: Expr, axes: tuple[bool, ...]) -> Expr:
    sizes = iter(shape_of(mask.type))
    shape = tuple(1 if new else next(sizes) for new in axes)
    return typed.Expand(mask.span, BlockType(types.BOOL, shape), mask, axes)


def _unexpanded(mask: Expr | None, axes: tuple[bool, ...]) -> Expr | None:
    """The mask without the new axes, which have size 1."""
    if mask is None or not shape_of(mask.type):
        return mask
    shape = tuple(size for size, new in zip(shape_of(mask.type), axes, strict=True) if not new)
    if isinstance(mask, typed.Expand) and mask.axes == axes:
        return mask.operand
    return typed.Reshape(mask.span, with_element(types.BOOL, shape), mask)


def _permuted_back(mask: Expr | None, order: tuple[int, ...]) -> Expr | None:
    if mask is None or not shape_of(mask.type):
        return mask
    back = tuple(order.index(axis) for axis in range(len(order)))
    shape = tuple(shape_of(mask.type)[axis] for axis in back)
    return typed.Permute(mask.span, BlockType(types.BOOL, shape), mask, back)
