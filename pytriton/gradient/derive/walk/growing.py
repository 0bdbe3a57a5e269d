"""A loop that runs longer in later programs: ``for (n = 0; n < min(N, (pm + 1) * TM); n += TN)`` of a causal mask.

Its iterations become programs (turned.py), each of which walks over the programs of the forward that run it. These
are all from a first one on, as the bound grows with the program:

    bound      ``counter < bound`` holds            in the last program
    a          for all programs, or for none        a
    (p + c)*T  from counter / T - c + 1 on          (count - 1 + c) * T
    min(...)   where it does for all arguments      the least

``a`` depends on no program, T is a positive constant, c at least 0, and the counter counts up from 0 or more.

A load that all of these programs share has the mask of the last one, as that of others is a part of it. It must be
``counter + r < bound`` with r at least 0: so nothing is touched that the last program does not touch.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytriton.frozen import record
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.graph import Values, inlined
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Constexpr,
    Expand,
    Expr,
    Literal,
    Name,
    Range,
    Symbol,
)
from pytriton.lang.tree.types import INT
from pytriton.lang.tree.walk import names, rebuild


@record
class Growing:
    """Proof that the programs that run an iteration are those from ``first`` on, if the ``conditions`` hold, else
    none; ``last``: the ``bound`` in the last program.
    """

    counter: Symbol
    bound: Symbol
    first: Expr
    conditions: tuple[Expr, ...]
    last: Expr


def growing(condition: Expr | None, values: Values, program: Symbol, count: Symbol) -> Growing | None:
    """The proof for the condition of a loop whose counter counts up from 0 or more.

    ``values``: those of variables; ``count``: how many programs there are.
    """
    match condition:
        case Binary(operator="<", left=Name(symbol=counter), right=Name(symbol=bound)):
            of = _Bound(f.named(counter), program, count)
            last = of.last(inlined(f.named(bound), values, {program}))
            if last is not None and of.firsts:
                first = f.call("max", INT, *of.firsts) if len(of.firsts) > 1 else of.firsts[0]
                return Growing(counter, bound, first, tuple(of.conditions), last)
    return None


class _Bound:
    """The bound of a loop, part by part. ``firsts``: the first program for each part that grows."""

    def __init__(self, counter: Expr, program: Symbol, count: Symbol) -> None:
        self._counter, self._program, self._count = counter, program, f.named(count)
        self.firsts: list[Expr] = []
        self.conditions: list[Expr] = []

    def last(self, bound: Expr) -> Expr | None:
        """The bound in the last program; None where it is not known to grow."""
        if self._program not in names(bound):
            self.conditions.append(f.binary("<", self._counter, bound))
            return bound
        match bound:
            case Call(function="min", arguments=arguments):
                parts = [self.last(part) for part in arguments]
                return None if None in parts else f.call("min", INT, *(part for part in parts if part))
            case Binary(operator="*", left=place, right=tile) if _is_positive(tile):
                added = self._added(place)
                if added is None:
                    return None
                first = f.binary("/", self._counter, tile)
                self.firsts.append(first if added == 1 else self._at_least_0(first, added))
                end = self._count if added == 1 else f.binary("+", self._count, f.number(added - 1))
                return f.binary("*", end, tile)
        return None

    def _added(self, place: Expr) -> int | None:
        """c of ``program + c``."""
        match place:
            case Name(symbol=symbol) if symbol is self._program:
                return 0
            case Binary(operator="+", left=Name(symbol=symbol), right=Literal(value=int() as added)):
                return added if symbol is self._program and added >= 0 else None
        return None

    def _at_least_0(self, first: Expr, added: int) -> Expr:
        if added == 0:
            return f.binary("+", first, f.number(1))
        return f.call("max", INT, f.binary("-", first, f.number(added - 1)), f.number(0))


def shared_mask(mask: Expr, proof: Growing, values: Values) -> Expr | None:
    """The mask of a load in the last program; None where it is not ``counter + r < bound``."""
    whole = inlined(mask, values, {proof.bound})
    match f.inside(whole, Expand, Broadcast):
        case Binary(operator="<", left=Binary(operator="+", left=left, right=right), right=bound):
            counted = _is(left, proof.counter) and _counts_up(right, values)
            if counted and _is(bound, proof.bound):
                return rebuild(whole, {proof.bound: proof.last})
    return None


def _is(expr: Expr, symbol: Symbol) -> bool:
    inner = f.inside(expr, Broadcast)
    return isinstance(inner, Name) and inner.symbol is symbol


def _counts_up(expr: Expr, values: Values) -> bool:
    """Whether it is ``0 ... T``, or starts at more."""
    value = values.get(expr.symbol) if isinstance(expr, Name) else expr
    start = constant(value.start) if isinstance(value, Range) else None
    return isinstance(start, int) and start >= 0


def _is_positive(expr: Expr) -> bool:
    return isinstance(expr, Constexpr | Literal) and isinstance(expr.value, int) and expr.value > 0


def is_counting_up(start: Expr, increments: Sequence[tuple[str, Expr]]) -> bool:
    """Whether a counter starts at 0 or more, and grows by constants."""
    first = constant(start)
    up = all(operator == "+" and _is_positive(by) for operator, by in increments)
    return isinstance(first, int) and first >= 0 and bool(increments) and up
