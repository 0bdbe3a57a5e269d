"""Blocks of several axes as sums of what each axis contributes: ``p + rm[:, newaxis] * s + rk[newaxis, :]`` is a
scalar, a block along rows and a block along columns.

Input: an expression of a kernel after all passes. Output: its ``Parts``, whose sum (of truth values, whose
conjunction) it is. The parts are small, and computed as the kernel computes them; the lowest and the highest
element of the whole block are the sums of the lowest and of the highest of its parts. What is no such sum, or
depends on a variable of which nobody knows, is ``Unknown``.

A pointer to T moves by parts that count elements of T. Sums of ints are exact only if they stay within 32 bits;
where it matters, a statement goes to ``required`` which reports if they do not.
"""

from __future__ import annotations

from collections.abc import Callable

from pytriton.frozen import dataclass, replace
from pytriton.lang.tree.typed import (
    Atomic,
    Binary,
    Broadcast,
    Call,
    Cast,
    Dot,
    Evaluate,
    Expand,
    Expr,
    Literal,
    Load,
    Name,
    Permute,
    Select,
    Statement,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    LONG,
    ULONG,
    BlockType,
    ElementType,
    PointerType,
    ScalarType,
    Type,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import children, with_children

__all__ = ["Parts", "Separation", "Shadow", "Unknown", "Unseen", "is_spread", "joined"]


class Unknown(Exception):
    """An expression that is no sum of its axes, or depends on what is not known."""


class Unseen(Unknown):
    """An expression that depends on a variable of which no value has been seen so far."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The sum of a scalar and of one block for each axis; None for those that contribute nothing."""

    base: Expr | None
    axes: tuple[Expr | None, ...]

    @property
    def used(self) -> list[int]:
        return [axis for axis, part in enumerate(self.axes) if part is not None]

    def each(self, change: Callable[[Expr], Expr]) -> Parts:
        """Every part that there is, changed."""
        base, *axes = [None if part is None else change(part) for part in (self.base, *self.axes)]
        return Parts(base, tuple(axes))


@dataclass(frozen=True, slots=True)
class Shadow:
    """The variables that hold the parts of a variable."""

    base: Symbol | None
    axes: tuple[Symbol | None, ...]


def is_spread(type_: Type) -> bool:
    """Whether values of a type are kept in parts: blocks of several axes, and of pointers."""
    rank = len(shape_of(type_))
    return rank > 1 or (rank == 1 and isinstance(element_of(type_), PointerType))


class Separation:
    """The parts of expressions, as far as variables are known. ``look_up`` gives the value of a load."""

    def __init__(self, look_up: Callable[[Load], Expr]) -> None:
        self.unknown: set[Symbol] = set()
        self.shadows: dict[Symbol, Shadow] = {}
        self.required: list[Statement] = []
        self.unseen_is_unknown = False
        self._look_up = look_up

    def plain(self, expr: Expr) -> Expr:
        """An expression that is computed as it stands: a scalar, or a block of one axis."""
        if isinstance(expr, Name) and expr.symbol in self.unknown:
            raise Unknown
        if is_spread(expr.type):
            if len(shape_of(expr.type)) > 1:
                raise Unknown
            return _whole(self.parts(expr), expr)
        if isinstance(expr, Load):
            return self._look_up(expr)
        if isinstance(expr, Atomic | Dot):
            raise Unknown
        return with_children(expr, self.plain)

    def parts(self, expr: Expr) -> Parts:
        """The parts of any expression."""
        shape = shape_of(expr.type)
        if not is_spread(expr.type):
            return Parts(None, (self.plain(expr),)) if shape else Parts(self.plain(expr), ())
        match expr:
            case Name(symbol=symbol):
                return self._variable(symbol, expr)
            case Expand(operand=operand, axes=axes):
                inner = self.parts(operand)
                rest = iter(inner.axes)
                return Parts(inner.base, tuple([None if new else next(rest) for new in axes]))
            case Broadcast(operand=operand):
                return self.aligned(operand, shape)
            case Permute(operand=operand, order=order):
                inner = self.parts(operand)
                return Parts(inner.base, tuple([inner.axes[axis] for axis in order]))
            case Cast(operand=operand) if element_of(expr.type) == LONG:
                return self._widened(operand, shape)
            case Binary(operator="+" | "-") if isinstance(element_of(expr.type), PointerType):
                return self._moved(expr, shape)
            case Binary(operator="+" | "-" | "&&") if _counts(expr.type):
                left, right = self.aligned(expr.left, shape), self.aligned(expr.right, shape)
                right = right.each(_negative) if expr.operator == "-" else right
                return joined(left, right, "&&" if expr.operator == "&&" else "+")
            case Binary(operator="*", left=left_side, right=right_side) if _counts(expr.type):
                left, right = self.aligned(left_side, shape), self.aligned(right_side, shape)
                if not left.used or not right.used:
                    return _product(left, right)
        return self._elementwise(expr, shape)

    def aligned(self, expr: Expr, shape: tuple[int, ...]) -> Parts:
        """The parts of an operand, spread to a shape."""
        parts, have = self.parts(expr), shape_of(expr.type)
        missing = len(shape) - len(have)
        for axis, (part, size) in enumerate(zip(parts.axes, have, strict=True)):
            if part is not None and size != shape[missing + axis]:
                raise Unknown
        return Parts(parts.base, (*[None] * missing, *parts.axes))

    def _variable(self, symbol: Symbol, expr: Name) -> Parts:
        if symbol in self.unknown:
            raise Unknown
        shadow = self.shadows.get(symbol)
        if shadow is None:
            raise Unknown if self.unseen_is_unknown else Unseen
        base, *axes = [
            None if part is None else Name(expr.span, part.type, part) for part in (shadow.base, *shadow.axes)
        ]
        return Parts(base, tuple(axes))

    def _moved(self, expr: Binary, shape: tuple[int, ...]) -> Parts:
        """A pointer and the distance that it moves."""
        pointer, by = self.aligned(expr.left, shape), self._widened(expr.right, shape, exact=False)
        if pointer.base is None:
            raise Unknown
        base = pointer.base
        if by.base is not None:
            base = replace(expr, type=base.type, left=base, right=by.base)
        if expr.operator == "-":
            by = by.each(lambda part: _negative(_long(part)))
        axes = [
            first or second if first is None or second is None else _added(_long(first), _long(second))
            for first, second in zip(pointer.axes, by.axes, strict=True)
        ]
        return Parts(base, tuple(axes))

    def _widened(self, expr: Expr, shape: tuple[int, ...], *, exact: bool = True) -> Parts:
        """Integers in 64 bits, each part for itself; unless ``exact``, ints stay ints."""
        parts, element = self.aligned(expr, shape), element_of(expr.type)
        given = [part for part in (parts.base, *parts.axes) if part is not None]
        if element == LONG:
            return parts
        if not isinstance(element, ScalarType) or element.is_float or element == ULONG:
            raise Unknown
        if len(given) > 1:
            if element != INT:
                raise Unknown
            arguments = (parts.base or Literal(expr.span, INT, 0), *[part for part in parts.axes if part])
            self.required.append(Evaluate(expr.span, Call(expr.span, BOOL, "narrow", arguments)))
        if element == INT and not exact:
            return parts
        return parts.each(_long)

    def _elementwise(self, expr: Expr, shape: tuple[int, ...]) -> Parts:
        """What is computed element by element from operands that have at most one axis together."""
        if not isinstance(expr, Unary | Binary | Select | Cast | Call | Load) or not _counts(expr.type):
            raise Unknown
        sides = [self.aligned(child, shape) for child in children(expr)]
        used = {axis for side in sides for axis in side.used}
        if len(used) > 1:
            raise Unknown
        values = iter([_whole(side, child) for side, child in zip(sides, children(expr), strict=True)])
        type_ = with_element(element_of(expr.type), tuple([shape[axis] for axis in used]))
        made: Expr = replace(with_children(expr, lambda _: next(values)), type=type_)
        made = self._look_up(made) if isinstance(made, Load) else made
        return Parts(
            None if used else made, tuple([made if axis in used else None for axis in range(len(shape))])
        )


def joined(left: Parts, right: Parts, operator: str) -> Parts:
    """The sum of two values in parts, or the conjunction."""
    pairs = zip((left.base, *left.axes), (right.base, *right.axes), strict=True)
    base, *axes = [
        first or second
        if first is None or second is None
        else Binary(first.span, first.type, operator, first, second)
        for first, second in pairs
    ]
    return Parts(base, tuple(axes))


def _product(left: Parts, right: Parts) -> Parts:
    """A product, of which one side is a scalar."""
    scalar, other = (left.base, right) if not left.used else (right.base, left)
    if scalar is None:
        raise Unknown
    return other.each(lambda part: Binary(part.span, part.type, "*", part, scalar))


def _negative(expr: Expr) -> Expr:
    return Unary(expr.span, expr.type, "-", expr)


def _added(left: Expr, right: Expr) -> Expr:
    return Binary(left.span, left.type, "+", left, right)


def _long(expr: Expr) -> Expr:
    type_ = with_element(LONG, shape_of(expr.type))
    return expr if expr.type == type_ else Cast(expr.span, type_, expr)


def _whole(parts: Parts, expr: Expr) -> Expr:
    """A value whose parts have at most one axis, as one expression."""
    given = [part for part in parts.axes if part is not None]
    if len(given) > 1:
        raise Unknown
    if parts.base is None and not given:
        raise Unknown
    if not given:
        assert parts.base is not None
        return parts.base
    (part,) = given
    if parts.base is None:
        return part
    element: ElementType = element_of(expr.type)
    operator = "&&" if element == BOOL else "+"
    return Binary(part.span, BlockType(element, shape_of(part.type)), operator, parts.base, part)


def _counts(type_: Type) -> bool:
    return any(element_of(type_) == one for one in (INT, LONG, BOOL))
