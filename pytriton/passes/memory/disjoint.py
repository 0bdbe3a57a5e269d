"""Can two pointers of one program be shown apart? ``Y + r`` and ``Y + T + r`` for ``r = 0 ... T`` can.

A pointer is taken apart into the terms of its sum: constants, ranges (times a constant), and everything else. Where
everything else is alike and scalar, so that no two elements of the blocks differ in it, the two reach stretches of
memory that are so many elements long and apart as constants tell.
"""

from __future__ import annotations

from functools import cached_property

from pytriton.frozen import dataclass
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Binary, Cast, Declare, Expand, Expr, KernelDef, Name, Range, Symbol
from pytriton.lang.tree.types import BlockType
from pytriton.lang.tree.walk import assigned_once
from pytriton.passes.memory.keys import Keys

__all__ = ["Distances", "Reach"]


@dataclass(frozen=True, slots=True)
class Reach:
    """The elements from ``low`` to ``high`` (inclusive) behind the sum of ``terms``."""

    terms: tuple[int, ...]  # their keys, in order
    low: int
    high: int
    uniform: bool = True  # no term differs from element to element

    def apart(self, other: Reach) -> bool:
        """Whether the two have no common element, variables meaning the same in both."""
        if self.high >= other.low and other.high >= self.low:
            return False
        return self.uniform and other.uniform and self.terms == other.terms


class Distances:
    """Takes the pointers of one kernel apart."""

    def __init__(self, kernel: KernelDef, keys: Keys) -> None:
        self._kernel = kernel
        self._keys = keys
        self._reaches: dict[int, tuple[Expr, Reach]] = {}  # the pointer is kept, so that its id is

    @cached_property
    def _ranges(self) -> dict[Symbol, Range]:
        return {
            statement.symbol: statement.value
            for statement in assigned_once(self._kernel.body)
            if isinstance(statement, Declare) and isinstance(statement.value, Range)
        }

    def reach(self, pointer: Expr) -> Reach:
        """What a pointer reaches, worked out once."""
        found = self._reaches.get(id(pointer))
        if found is None:
            found = self._reaches[id(pointer)] = (pointer, self._sum(pointer))
        return found[1]

    def _sum(self, expr: Expr) -> Reach:
        value = constant(expr)
        if isinstance(value, int):
            return Reach((), value, value)
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
                return Reach((), low, high - 1)
            case Binary(operator="+", left=left, right=right):
                one, other = self._sum(left), self._sum(right)
                terms = tuple(sorted(one.terms + other.terms))
                uniform = one.uniform and other.uniform
                return Reach(terms, one.low + other.low, one.high + other.high, uniform)
            case Binary(operator="*", left=left, right=right):
                for factor, operand in ((constant(left), right), (constant(right), left)):
                    inner = self._sum(operand)
                    if isinstance(factor, int) and factor >= 0 and not inner.terms:
                        return Reach((), factor * inner.low, factor * inner.high)
        return Reach((self._keys.of(expr),), 0, 0, not isinstance(expr.type, BlockType))
