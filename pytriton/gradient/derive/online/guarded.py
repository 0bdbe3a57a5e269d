"""Exponents that may be -infinity, as those of a row of which all is masked.

A running softmax with such rows has a *guard* in its exponentials, a finite number for an exponent that is not:

    t = m' == -INFINITY ? 0 : m',    x' = x * exp(m - t) + the sum of (a value) * exp(f - t)

If m' = max(m, f) and x begins at 0, nothing but m' matters. Where m' is -infinity, so are m and all f: every
exponential is 0, and x stays 0. Where m' is finite and m is not, the factor is 0, and x was 0. In any other
iteration t is m'. So the sums are those of a loop without guards, and rescaled.py looks at that one. With T, the
guard of the last exponent M, the loop that only adds has T for m'. It adds 0 in rows where M is -infinity.

In these rows M and all sums are what they are for M + d, too, so outputs do not depend on d there, and need not be
looked at: M == -INFINITY counts as false. So does s == 0 for a sum s of exp(f - t) alone that begins at 0, if m
begins at -infinity: where M is finite, it is the largest f, which has added exp(0) to what is not negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import unrounded
from pytriton.gradient.derive.cancelled import Singular, regular
from pytriton.gradient.derive.graph import (
    Carried,
    Define,
    Item,
    Values,
    inlined,
    nodes_of,
    rewritten,
    values_in,
)
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Expand,
    Expr,
    Name,
    Reduce,
    Select,
    Symbol,
)
from pytriton.lang.tree.types import shape_of
from pytriton.lang.tree.walk import names, same, with_children


class Guards:
    """The guards of a loop's exponent. ``body``: the statements without them. ``last``: T, or M if there are none.
    ``are_right``: the exponent is the largest f, so that they change nothing. ``starts``: variables from before
    the loop.
    """

    def __init__(self, exponent: Carried, update: Symbol, body: Sequence[Item], starts: Values) -> None:
        self._exponent, self._update, self._starts = exponent, update, starts
        self._instead: list[Expr] = []
        self.body = [rewritten(item, self._without) for item in body]
        self.last = replace(exponent.after) if self else exponent.after
        self._values = values_in(self.body)
        self._largest = list(self._maxima(self._values.get(update)))
        self.are_right = not self or all(map(self._is_bounded, nodes_of(self.body, Call)))

    def __bool__(self) -> bool:
        return bool(self._instead)

    def definition(self) -> Iterator[Define]:
        """That of T."""
        if self:
            exponent = f.named(self._exponent.after)
            infinite = f.binary("==", exponent, f.number(-math.inf, f.scalar(exponent)))
            value = f.select(infinite, self._instead[0], exponent)
            yield Define(self.last, value, f.declare(self.last, value))

    def singular(self, sums: Iterable[Carried]) -> Singular:
        """What M and the sums are in rows in which nothing depends on M."""
        zeros = {carry.after: 0.0 for carry in sums if self._covers(carry)}
        return {self._exponent.after: -math.inf, **zeros}

    def _without(self, expr: Expr) -> Expr:
        """An expression without guards."""
        expr = with_children(expr, self._without)
        if isinstance(expr, Select):
            arm = regular(expr, {self._update: -math.inf})
            other = expr.no if arm is expr.yes else expr.yes
            value = constant(other)
            if arm and _is_name(arm, self._update) and value is not None and math.isfinite(value):
                self._instead.append(other)
                return arm
        return expr

    # ---------------------------------------------------------------- the largest f

    def _maxima(self, update: Expr | None) -> Iterator[tuple[Expr, int | None]]:
        """f of ``max(m, f)``, and the axis along which the largest of several is taken; each way to write it."""
        match update:
            case Call(function="max", arguments=(left, right)):
                for exponent, other in ((left, right), (right, left)):
                    if _is_name(exponent, self._exponent.inside):
                        yield from self._written(other, None)

    def _written(self, expr: Expr, axis: int | None) -> Iterator[tuple[Expr, int | None]]:
        yield expr, axis
        match unrounded(expr):
            case Reduce(operator="max", operand=operand) as reduction if axis is None:
                yield from self._written(operand, reduction.axis)
            case Name(symbol=symbol) if symbol in self._values:
                yield from self._written(self._values[symbol], axis)

    def _is_bounded(self, call: Call) -> bool:
        """Whether an exponential that depends on m' is one of f - m', or of m - m'."""
        if call.function not in ("exp", "exp2"):
            return True
        argument = self._over_update(call.arguments[0])
        if self._update not in names(argument):
            return True
        match _difference(argument):
            case Binary(left=left, right=right):
                symbol, axes = _row(right)
                is_factor = symbol is self._update and _row(left) == (self._exponent.inside, axes)
                return is_factor or bool(self._axis(argument))
        return False

    def _over_update(self, argument: Expr) -> Expr:
        """An argument, with what depends on m' inlined."""
        inner = {symbol: value for symbol, value in self._values.items() if symbol is not self._update}
        return inlined(argument, inner, (self._update,))

    def _axis(self, argument: Expr) -> tuple[int | None, ...]:
        """Of ``f - m'``, or a positive multiple of it, the axis along which m' is the largest f; else nothing."""
        match _difference(argument):
            case Binary(left=left, right=right):
                rank = len(shape_of(left.type))
                for largest, axis in self._largest:
                    alone = axis is None or rank == 1
                    axes = () if alone else tuple(place == axis for place in range(rank))
                    if _row(right) == (self._update, axes) and same(unrounded(left), unrounded(largest)):
                        return (axis,)
        return ()

    def _covers(self, carry: Carried) -> bool:
        """Whether a sum is not 0 where M is finite."""
        starts = (self._start(self._exponent), self._start(carry)) == (-math.inf, 0)
        alike = shape_of(carry.after.type) == shape_of(self._exponent.after.type)
        match self._values.get(carry.last):
            case Binary(operator="+", left=left, right=right) if starts and alike:
                pairs = ((left, right), (right, left))
                return any(self._is_scaled(x, carry.inside) and self._adds_one(g, None) for x, g in pairs)
        return False

    def _is_scaled(self, expr: Expr, summed: Symbol) -> bool:
        """Whether it is x * a."""
        match unrounded(expr):
            case Name(symbol=symbol) if symbol in self._values:
                return self._is_scaled(self._values[symbol], summed)
            case Binary(operator="*", left=left, right=right):
                return _is_name(left, summed) or _is_name(right, summed)
        return False

    def _start(self, carry: Carried) -> int | float | None:
        return constant(f.inside(inlined(carry.before, self._starts), Broadcast, Cast))

    def _adds_one(self, addend: Expr, axis: int | None) -> bool:
        """Whether the largest f adds exp(0)."""
        match unrounded(addend):
            case Name(symbol=symbol) if symbol in self._values:
                return self._adds_one(self._values[symbol], axis)
            case Reduce(operator="+", operand=operand) as reduction if axis is None:
                return self._adds_one(operand, reduction.axis)
            case Call(function="exp" | "exp2", arguments=(argument,)):
                return axis in self._axis(self._over_update(argument))
        return False


def _difference(argument: Expr) -> Expr:
    """An argument less a positive factor."""
    match unrounded(argument):
        case Binary(operator="*", left=left, right=right):
            for factor, other in ((left, right), (right, left)):
                value = constant(factor)
                if value is not None and 0 < value < math.inf:
                    return _difference(other)
        case Binary(operator="-") as difference:
            return difference
    return argument


def _row(expr: Expr) -> tuple[Symbol | None, tuple[bool, ...]]:
    """A variable, and which axes are new where it is expanded."""
    match unrounded(f.inside(unrounded(expr), Broadcast)):
        case Expand(operand=Name(symbol=symbol), axes=axes):
            return symbol, axes
        case Name(symbol=symbol):
            return symbol, ()
    return None, ()


def _is_name(expr: Expr, symbol: Symbol) -> bool:
    bare = unrounded(expr)
    return isinstance(bare, Name) and bare.symbol is symbol
