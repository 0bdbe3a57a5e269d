"""What the forward left in its outputs, which its backward reads instead of computing it again.

An element of an output is stored once, so what a statement of the forward stored is there when the backward runs:

    *(MEAN + row) = mean;                  a variable, as it is, for all lanes
    *?(rm < M) (LSE + rm) = m + log(l);    what a loop with rescaled sums leaves (rescaled.py): M + log(s) / c,
    *?(...) (O + ...) = acc / l;           and the means x / s

The first is read as it was stored. The others may be read under the mask of the store, and rounded as the output
is: M may be any number near it, and a mean is only multiplied by the cotangents of that output. Outside of the mask
these are 0, and so is the mean; M is infinite there, so that no probability is more than 0.

A backward reads what is stored where it needs fewer loops or products then; else computing it again costs as little
(assemble.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from pytriton.frozen import record
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import Flow, converts_floats
from pytriton.gradient.derive.graph import (
    Define,
    Item,
    Loop,
    Write,
    defined_in,
    dependent,
    inlined,
    values_in,
)
from pytriton.lang.tree.typed import Binary, Broadcast, Call, Cast, Expand, Expr, Name, Symbol
from pytriton.lang.tree.walk import has_memory, names, same


@record
class SavedValue:
    """Proof that the forward leaves a variable where a pointer points; outside of ``mask``, ``outside`` may stand
    for it.
    """

    symbol: Symbol
    pointer: Expr
    mask: Expr | None = None
    outside: float = 0


def saved(items: Sequence[Item], flow: Flow, outputs: Collection[Symbol]) -> Mapping[Symbol, SavedValue]:
    """Forward values that are already in an output, by variable; known where it is defined."""
    places: dict[Symbol, int] = {}
    proofs: dict[Symbol, SavedValue] = {}
    for at, item in enumerate(items):
        proof = saved_by(item, places, flow, outputs)
        if proof is not None:
            proofs[proof.symbol] = proof
        places |= dict.fromkeys(defined_in([item]), at)
    for item in items:
        if isinstance(item, Loop) and item.ones:
            proofs |= {proof.symbol: proof for proof in _Left(item, items, places, flow, outputs).proofs()}
    return proofs


def saved_by(
    item: Item, places: Mapping[Symbol, int], flow: Flow, outputs: Collection[Symbol]
) -> SavedValue | None:
    """Proof that a statement saves a variable; ``places``: of the definitions of variables."""
    if isinstance(item, Write) and not item.atomic and item.mask is None and isinstance(item.value, Name):
        symbol, pointer = item.value.symbol, item.pointer
        before = (places.get(name, -1) for name in names(pointer))
        kept = flow.roots(pointer) <= set(outputs) and symbol in places
        if kept and all(place < places[symbol] for place in before):
            return SavedValue(symbol, pointer)
    return None


def at_one(
    expr: Expr, is_one: Callable[[Expr], bool], plain: Callable[[Expr], Expr] = lambda expr: expr
) -> Expr | None:
    """x, of ``x / s`` and ``x + log(s)``: their value if s is 1. ``plain``: what operands are read as."""
    match expr:
        case Binary(operator="/", left=kept, right=unit) if is_one(unit):
            return kept
        case Binary(operator="+", left=left, right=right):
            for kept, other in ((left, right), (right, left)):
                match plain(other):
                    case Call(function="log" | "log2", arguments=(unit,)) if is_one(unit):
                        return kept
    return None


class _Left:
    """What stores leave of the results of a loop with rescaled sums, one of which is 1."""

    def __init__(
        self,
        loop: Loop,
        items: Sequence[Item],
        places: Mapping[Symbol, int],
        flow: Flow,
        outputs: Collection[Symbol],
    ) -> None:
        self._loop, self._places, self._flow, self._outputs = loop, places, flow, frozenset(outputs)
        self._values = values_in(items)
        self._after = items[items.index(loop) + 1 :]
        self._sums = {carry.after for carry in loop.carried if carry.after in loop.computed} - {*loop.ones}
        self._results = {*self._sums, *loop.ones, loop.exponent}

    def proofs(self) -> Iterator[SavedValue]:
        """Of M and of the means."""
        exponent = self._loop.exponent
        assert exponent is not None
        readers = self._readers(self._results)
        for write in readers:
            if (
                not isinstance(write, Write)
                or write.atomic
                or not self._flow.roots(write.pointer) <= self._outputs
            ):
                continue
            summed = self._mean(write.value)
            if summed is not None and self._readers({summed}) == [write]:
                yield from self._proof(self._loop.computed[summed], write, 0)
            elif self._is_exponent(write.value) and all(self._has_rows_of(write, other) for other in readers):
                yield from self._proof(exponent, write, math.inf)

    def _proof(self, symbol: Symbol, write: Write, outside: float) -> Iterator[SavedValue]:
        """The pointer and the mask of a store, computed where the variable is defined."""
        limit = self._places[symbol]
        pointer = self._early(write.pointer, limit)
        mask = None if write.mask is None else self._early(write.mask, limit)
        if pointer is not None and (mask is None) is (write.mask is None):
            yield SavedValue(symbol, pointer, mask, outside)

    def _early(self, expr: Expr, limit: int) -> Expr | None:
        """The expression over variables that are defined before another one; None where it reads memory, or what a
        loop or a branch leaves.
        """
        late = {symbol for symbol, place in self._places.items() if place >= limit}
        early = inlined(expr, {symbol: self._values[symbol] for symbol in late & self._values.keys()})
        return None if has_memory(early) or not late.isdisjoint(names(early)) else early

    def _readers(self, symbols: Collection[Symbol | None]) -> list[Item]:
        """The statements behind the loop, other than definitions, whose values depend on these variables."""
        return [item for item in dependent(self._after, symbols) if not isinstance(item, Define)]

    # ---------------------------------------------------------------- what a store stores

    def _plain(self, expr: Expr, rounded: bool = False) -> Expr:
        """The value of a variable, without repetitions and conversions; ``rounded``: without those to smaller types
        as well.
        """
        match expr:
            case Name(symbol=symbol) if symbol not in self._results and symbol in self._values:
                return self._plain(self._values[symbol], rounded)
            case Broadcast(operand=operand):
                return self._plain(operand, rounded)
            case Cast(operand=operand) if converts_floats(expr) and (rounded or f.is_harmless(expr)):
                return self._plain(operand, rounded)
        return expr

    def _mean(self, expr: Expr) -> Symbol | None:
        """The sum x, where an expression is x / s."""
        match self._plain(expr, rounded=True):
            case Binary(operator="/") as mean:
                summed = self._at_one(mean)
                return summed if summed in self._sums else None
        return None

    def _at_one(self, expr: Expr) -> Symbol | None:
        """The variable x, of ``x / s`` and ``x + log(s)``."""
        kept = at_one(expr, self._is_one, self._plain)
        variable = None if kept is None else self._plain(kept)
        return variable.symbol if isinstance(variable, Name) else None

    def _is_one(self, expr: Expr) -> bool:
        """Whether an expression is s, as a row or a column."""
        value, _ = self._rows(expr)
        return isinstance(value, Name) and value.symbol in self._loop.ones

    def _is_exponent(self, expr: Expr) -> bool:
        """Whether an expression is M + log(s) / c."""
        total = self._plain(expr)
        added = isinstance(total, Binary) and total.operator == "+"
        return added and self._at_one(total) is self._loop.exponent

    def _has_rows_of(self, write: Write, other: Item) -> bool:
        """Whether another statement stores only rows that this one stores."""
        if write.mask is None or other is write:
            return True
        if not isinstance(other, Write) or other.mask is None:
            return False
        summed, (rows, axes) = self._mean(other.value), self._rows(other.mask)
        mean = None if summed is None else self._values[self._loop.computed[summed]]
        if not isinstance(mean, Binary) or axes != self._rows(mean.right)[1]:
            return False
        return same(rows, self._plain(write.mask))

    def _rows(self, expr: Expr) -> tuple[Expr, tuple[bool, ...]]:
        """A value of rows, and the axes that it gained."""
        value = self._plain(expr)
        return (self._plain(value.operand), value.axes) if isinstance(value, Expand) else (value, ())
