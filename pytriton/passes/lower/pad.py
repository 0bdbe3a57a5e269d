"""Blocks of any size -> blocks whose sizes are powers of two, which Triton requires.

Each axis is padded to the next power of two. The values of the extra elements are arbitrary, but not visible:

- a load, a store and an atomic access memory only where ``in_TN`` holds (``range(padded) < TN``, declared once); a
  variable that is used as a mask is false in the padding from its assignment on;
- a reduction along a padded axis, and a product over one, get neutral elements there:
  0 for a sum, the least or greatest integer for ``max`` or ``min``, and for floats NaN, which both skip;
- a change of shape moves every element to its place in row-major order (``Gather``), where padding lies between.

Output: a tree with powers of two only; a ``Range`` keeps its bounds, its type has the padded size. A kernel
without such blocks stays the same object.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeVar, overload

from pytriton.frozen import replace
from pytriton.lang.recording import is_power_of_2
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, padded, scalar_of
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    LONG,
    BlockType,
    PointerType,
    ScalarType,
    Type,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import expressions, map_body, statements, walk, with_children, with_expressions
from pytriton.passes.analysis.context import PassContext
from pytriton.source import Span

_T = TypeVar("_T", bound=Type)


def pad(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``int r[3] = 0 ... 3`` as a block of 4, with ``in_3``, the mask of its elements; anything else as it is."""
    if not _has_odd(kernel.body) and not _declares_odd(kernel.body):
        return kernel
    padding = _Padding(kernel)
    body = map_body(kernel.body, padding.statement)
    return replace(kernel, body=(*padding.declarations(), *body))


def _has_odd(body: typed.Body) -> bool:
    """Whether a value in the statements is a block of such a size."""
    for expr in expressions(body):
        for node in walk(expr):
            if node.type.__class__ is BlockType and _odd(node.type):
                return True
    return False


def _declares_odd(body: typed.Body) -> bool:
    return any(
        isinstance(statement, typed.Declare) and _odd(statement.symbol.type) for statement in statements(body)
    )


def _odd(type_: Type) -> bool:
    if isinstance(type_, BlockType):
        for size in type_.shape:
            if not is_power_of_2(size):
                return True
    return False


def _size(size: int) -> typed.Size:
    """The next power of two, in the names that gave the size."""
    value = padded(size)
    if value is size:
        return size if isinstance(size, typed.Size) else typed.Size(size)
    expr = size.expr if isinstance(size, typed.Size) else None
    if expr is None or not any(isinstance(node, typed.Constexpr) for node in walk(expr)):
        return typed.Size(value)
    return typed.Size(value, typed.Call(expr.span, INT, "next_power_of_2", (expr,)))


def _type(type_: _T) -> _T | BlockType:
    """The type with its sizes padded."""
    if isinstance(type_, BlockType) and _odd(type_):
        return BlockType(type_.element, tuple(map(_size, type_.shape)))
    return type_


class _Padding:
    """Pads one kernel."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self.span = kernel.span
        self._symbols: dict[typed.Symbol, typed.Symbol] = {}
        self._inside: dict[str, typed.Declare] = {}
        self._values: dict[typed.Symbol, list[typed.Expr | None]] = {}  # all assignments of each variable
        for statement in statements(kernel.body):
            if isinstance(statement, typed.Declare | typed.Assign):
                self._values.setdefault(statement.symbol, []).append(statement.value)
        self._masks = {symbol for access in _accesses(kernel.body) for symbol in _mask_names(*access)}

    def declarations(self) -> typed.Body:
        """The masks that are true for the elements and false in the padding."""
        return tuple(self._inside.values())

    # ---------------------------------------------------------------- statements

    def statement(self, statement: typed.Statement) -> typed.Statement:
        """The statement padded, when the blocks inside it have been."""
        match statement:
            case typed.Declare(symbol=symbol, value=value):
                new = None if value is None else self._value(symbol, value)
                return replace(statement, symbol=self._symbol(symbol), value=new)
            case typed.Assign(symbol=symbol, value=value):
                return replace(statement, symbol=self._symbol(symbol), value=self._value(symbol, value))
            case typed.Store(pointer=pointer, value=value, mask=mask):
                masked = self._mask(mask, pointer)
                return replace(statement, pointer=self.expr(pointer), value=self.expr(value), mask=masked)
            case _:
                return with_expressions(statement, self.expr)

    def _value(self, symbol: typed.Symbol, value: typed.Expr) -> typed.Expr:
        """The padded value of a variable; that of one that is used as a mask excludes the padding."""
        return self._mask(value, value) if symbol in self._masks else self.expr(value)

    def _symbol(self, symbol: typed.Symbol) -> typed.Symbol:
        """The variable with its padded type."""
        if not _odd(symbol.type):
            return symbol
        if symbol not in self._symbols:
            self._symbols[symbol] = replace(symbol, type=_type(symbol.type))
        return self._symbols[symbol]

    # ---------------------------------------------------------------- expressions

    def expr(self, expr: typed.Expr) -> typed.Expr:
        """The expression padded: correct where the mask of its axes holds."""
        match expr:
            case typed.Name(symbol=symbol):
                new = self._symbol(symbol)
                return expr if new is symbol else typed.Name(expr.span, new.type, new)
            case typed.Range():
                return replace(expr, type=_type(expr.type))
            case typed.Load(pointer=pointer, mask=mask, other=other):
                return self._load(expr, self.expr(pointer), self._mask(mask, pointer), other)
            case typed.Atomic(mask=mask):
                bare = with_children(replace(expr, mask=None), self.expr)
                return replace(bare, type=_type(expr.type), mask=self._mask(mask, expr.pointer))
            case typed.Reduce(operand=operand, operator=operator, axis=axis):
                inner = self._filled(operand, axis, _neutral(operator, operand))
                return replace(expr, type=_type(expr.type), operand=inner)
            case typed.Dot(left=left, right=right):
                zero = _neutral("+", left)
                first, second = self._filled(left, 1, zero), self._filled(right, 0, zero)
                return replace(expr, type=_type(expr.type), left=first, right=second)
            case typed.Reshape():
                return self._reshape(expr)
            case _:
                changed = with_children(expr, self.expr)
                return replace(changed, type=_type(changed.type)) if _odd(changed.type) else changed

    def _load(
        self, load: typed.Load, pointer: typed.Expr, mask: typed.Expr | None, other: typed.Expr | None
    ) -> typed.Load:
        if other is not None:
            other = self.expr(other)
        elif mask is not None and isinstance(element := element_of(load.type), ScalarType):
            other = typed.Literal(load.span, element, 0)
        return replace(load, type=_type(load.type), pointer=pointer, mask=mask, other=other)

    def _reshape(self, expr: typed.Reshape) -> typed.Expr:
        """The elements in row-major order in another shape."""
        have, want = shape_of(expr.operand.type), shape_of(expr.type)
        operand = self.expr(expr.operand)
        if all(map(is_power_of_2, (*have[1:], *want[1:]))):
            # Only leading axes are padded: the padding stands after all elements.
            return replace(expr, type=_type(expr.type), operand=operand)
        element = element_of(expr.type)
        carried: ScalarType | PointerType = element
        if not isinstance(element, ScalarType) or element == BOOL:
            carried = INT if element == BOOL else LONG  # a gather moves numbers
            operand = typed.Cast(expr.span, with_element(carried, shape_of(operand.type)), operand)
        source, target = tuple(map(int, have)), tuple(map(int, want))
        flat = typed.Reshape(expr.span, _flat(carried, math.prod(shape_of(operand.type))), operand)
        index = _moved(source, target, expr.span)
        gathered: typed.Expr = typed.Gather(
            expr.span, with_element(carried, shape_of(index.type)), flat, index
        )
        shape = tuple(map(_size, want))
        if len(shape) > 1:
            gathered = typed.Reshape(expr.span, with_element(carried, shape), gathered)
        if carried != element:
            gathered = typed.Cast(expr.span, with_element(element, shape), gathered)
        return gathered

    # ---------------------------------------------------------------- masks

    @overload
    def _mask(self, mask: typed.Expr, pointer: typed.Expr) -> typed.Expr: ...
    @overload
    def _mask(self, mask: typed.Expr | None, pointer: typed.Expr) -> typed.Expr | None: ...
    def _mask(self, mask: typed.Expr | None, pointer: typed.Expr) -> typed.Expr | None:
        """The mask of an access through a block of pointers, without the padding."""
        padded = None if mask is None else self.expr(mask)
        shape = shape_of(pointer.type)
        if mask is not None and self._masks.intersection(_mask_names(mask, shape)):
            return padded
        for axis, size in enumerate(shape):
            if not is_power_of_2(size):
                inside = self._along(size, axis, len(shape))
                padded = inside if padded is None else _both(padded, inside)
        return padded

    def _filled(self, operand: typed.Expr, axis: int, neutral: typed.Literal) -> typed.Expr:
        """The operand with a number in the padding along an axis."""
        padded, shape = self.expr(operand), shape_of(operand.type)
        if is_power_of_2(shape[axis]) or (neutral.value == 0 and self._zero(operand)):
            return padded
        inside = self._along(shape[axis], axis, len(shape))
        return typed.Select(operand.span, padded.type, inside, padded, neutral)

    def _zero(self, expr: typed.Expr, assumed: frozenset[typed.Symbol] = frozenset()) -> bool:
        """Whether the padding of a block is zero, as it is in loads and in masks.

        That of a variable is if that of all its assignments is, assuming so for the variable itself.
        """
        match expr:
            case typed.Name(symbol=symbol):
                if symbol in self._masks or symbol in assumed:
                    return True
                values = self._values.get(symbol, [None])
                return all(value and self._zero(value, assumed | {symbol}) for value in values)
            case typed.Load(other=other):
                return other is None or constant(_scalar(other)) == 0
            case typed.Select(condition=condition, no=no):
                shape = shape_of(expr.type)
                masked = bool(self._masks.intersection(_mask_names(condition, shape)))
                return masked and constant(_scalar(no)) == 0
            case typed.Binary(operator="+" | "-" | "*", left=left, right=right):
                same = shape_of(left.type) == shape_of(right.type)
                return same and self._zero(left, assumed) and self._zero(right, assumed)
            case typed.Cast(operand=operand) if scalar_of(operand.type) is not None:
                return self._zero(operand, assumed)
            case typed.Permute(operand=operand):
                return self._zero(operand, assumed)
            case _:
                return False

    def _along(self, size: int, axis: int, rank: int) -> typed.Expr:
        """The mask of the elements along an axis of a block, with the rank of the block."""
        declared = self._inside_of(size)
        type_ = declared.symbol.type
        name = typed.Name(self.span, type_, declared.symbol)
        if rank == 1:
            return name
        axes = tuple(place != axis for place in range(rank))
        shape = tuple(1 if new else shape_of(type_)[0] for new in axes)
        return typed.Expand(self.span, BlockType(BOOL, shape), name, axes)

    def _inside_of(self, size: int) -> typed.Declare:
        """The declaration ``in_TN = range < TN`` for a size."""
        expr = size.expr if isinstance(size, typed.Size) else None
        bound: typed.Expr = typed.Literal(self.span, INT, int(size)) if expr is None else expr
        spelled = bound.name if isinstance(bound, typed.Constexpr) else str(int(size))
        if spelled not in self._inside:
            padded = (_size(size),)
            elements = typed.Range(self.span, BlockType(INT, padded), typed.Literal(self.span, INT, 0), bound)
            type_ = BlockType(BOOL, padded)
            symbol = typed.Symbol(f"in_{spelled}", type_, self.span)
            self._inside[spelled] = typed.Declare(
                self.span, symbol, typed.Binary(self.span, type_, "<", elements, bound)
            )
        return self._inside[spelled]


def _accesses(body: typed.Body) -> Iterator[tuple[typed.Expr, tuple[int, ...]]]:
    """Every mask and the shape of the pointers that it is for."""
    for statement in statements(body):
        if isinstance(statement, typed.Store) and statement.mask is not None:
            yield statement.mask, shape_of(statement.pointer.type)
    for expr in expressions(body):
        for node in walk(expr):
            if isinstance(node, typed.Load | typed.Atomic) and node.mask is not None:
                yield node.mask, shape_of(node.pointer.type)


def _mask_names(mask: typed.Expr, shape: tuple[int, ...]) -> Iterator[typed.Symbol]:
    """The variables of that shape whose conjunction a mask is."""
    match mask:
        case typed.Name(symbol=symbol) if shape_of(mask.type) == shape and not all(map(is_power_of_2, shape)):
            yield symbol
        case typed.Binary(operator="&&", left=left, right=right):
            yield from _mask_names(left, shape)
            yield from _mask_names(right, shape)


def _both(mask: typed.Expr, inside: typed.Expr) -> typed.Expr:
    shape = broadcast_shapes(shape_of(mask.type), shape_of(inside.type))
    assert shape is not None
    return typed.Binary(mask.span, with_element(BOOL, shape), "&&", mask, inside)


def _scalar(expr: typed.Expr) -> typed.Expr:
    return expr.operand if isinstance(expr, typed.Broadcast) else expr


def _neutral(operator: str, operand: typed.Expr) -> typed.Literal:
    """The number that does not change a sum, a maximum or a minimum."""
    element = element_of(operand.type)
    assert isinstance(element, ScalarType)
    value: float = 0
    if operator != "+" and element.is_float:
        value = math.nan
    elif operator != "+":
        span = element.bits - (element.kind == "int")
        lowest = -(1 << span) if element.kind == "int" else 0
        value = lowest if operator == "max" else (1 << span) - 1
    return typed.Literal(operand.span, element, value)


# ---------------------------------------------------------------- changes of shape


def _flat(element: ScalarType | PointerType, count: int) -> BlockType:
    return BlockType(element, (typed.Size(count),))


def _moved(source: tuple[int, ...], target: tuple[int, ...], span: Span) -> typed.Expr:
    """For each place of the padded target, in order, the place in the padded source that its element comes from."""
    padded_source, padded_target = tuple(map(_size, source)), tuple(map(_size, target))
    count = math.prod(padded_target)
    type_ = _flat(INT, count)

    def operation(operator: str, left: typed.Expr, right: int) -> typed.Expr:
        return (
            typed.Binary(span, type_, operator, left, typed.Literal(span, INT, right)) if right != 1 else left
        )

    def relocate(
        place: typed.Expr, from_: tuple[int, ...], sizes: tuple[int, ...], to: tuple[int, ...]
    ) -> typed.Expr:
        """A place counted by the strides of ``from_`` counted by those of ``to``, axis by axis."""
        total: typed.Expr | None = None
        for axis, size in enumerate(sizes):
            digit = operation("/", place, math.prod(from_[axis + 1 :]))
            digit = (
                digit if axis == 0 else typed.Binary(span, type_, "%", digit, typed.Literal(span, INT, size))
            )
            term = operation("*", digit, math.prod(to[axis + 1 :]))
            total = term if total is None else typed.Binary(span, type_, "+", total, term)
        assert total is not None
        return total

    places = typed.Range(span, type_, typed.Literal(span, INT, 0), typed.Literal(span, INT, count))
    element = relocate(places, padded_target, padded_target, target)
    place = relocate(element, source, source, padded_source)
    last = typed.Literal(span, INT, math.prod(padded_source) - 1)
    return typed.Binary(span, type_, "&", place, last)
