"""Can two pointers of one program be shown apart? ``Y + r`` and ``Y + T + r`` for ``r = 0 ... T`` can.

A pointer is taken apart into the terms of its sum: constants, ranges (times a constant), and everything else. Where
everything else is alike and scalar, so that no two elements of the blocks differ in it, the two reach stretches of
memory that are so many elements long and apart as constants tell.
"""

from __future__ import annotations

from pytriton.frozen import dataclass
from pytriton.lang.convert import constant
from pytriton.lang.typed import Binary, Cast, Declare, Expand, Expr, KernelDef, Name, Range, Symbol
from pytriton.lang.types import BlockType
from pytriton.lang.walk import assigned_once
from pytriton.passes.keys import Keys

__all__ = ["Distances"]


@dataclass(frozen=True, slots=True)
class _Sum:
    """The elements from ``low`` to ``high`` (inclusive) behind the sum of ``terms``."""

    terms: tuple[int, ...]  # their keys, in order
    low: int
    high: int
    uniform: bool = True  # no term differs from element to element


class Distances:
    """Compares pointers of one kernel."""

    def __init__(self, kernel: KernelDef, keys: Keys) -> None:
        self._keys = keys
        self._sums: dict[int, tuple[Expr, _Sum]] = {}  # the pointer is kept, so that its id is
        self._ranges: dict[Symbol, Range] = {
            statement.symbol: statement.value
            for statement in assigned_once(kernel.body)
            if isinstance(statement, Declare) and isinstance(statement.value, Range)
        }

    def apart(self, first: Expr, second: Expr) -> bool:
        """Whether the two can reach no common element, variables meaning the same in both."""
        one, other = self._known(first), self._known(second)
        if one.high >= other.low and other.high >= one.low:
            return False
        return one.uniform and other.uniform and one.terms == other.terms

    def _known(self, pointer: Expr) -> _Sum:
        """The sum of a pointer, worked out once."""
        found = self._sums.get(id(pointer))
        if found is None:
            found = self._sums[id(pointer)] = (pointer, self._sum(pointer))
        return found[1]

    def _sum(self, expr: Expr) -> _Sum:
        value = constant(expr)
        if isinstance(value, int):
            return _Sum((), value, value)
        match expr:
            case Expand(operand=operand):
                return self._sum(operand)
            case Cast(operand=operand) if isinstance(operand, Name | Range):
                return self._sum(operand)
            case Name(symbol=symbol) if symbol in self._ranges:
                return self._sum(self._ranges[symbol])
            case Range(start=start, stop=stop):
                low, high = constant(start), constant(stop)
                assert isinstance(low, int) and isinstance(high, int)
                return _Sum((), low, high - 1)
            case Binary(operator="+", left=left, right=right):
                one, other = self._sum(left), self._sum(right)
                terms = tuple(sorted(one.terms + other.terms))
                uniform = one.uniform and other.uniform
                return _Sum(terms, one.low + other.low, one.high + other.high, uniform)
            case Binary(operator="*", left=left, right=right):
                for factor, operand in ((constant(left), right), (constant(right), left)):
                    inner = self._sum(operand)
                    if isinstance(factor, int) and factor >= 0 and not inner.terms:
                        return _Sum((), factor * inner.low, factor * inner.high)
        return _Sum((self._keys.of(expr),), 0, 0, not isinstance(expr.type, BlockType))
