"""The smallest and the largest value of an integer expression in a launch: interval arithmetic with its numbers.

Input: an expression of scalars and blocks, and a launch: the size of its grid and the values of its parameters.
Output: bounds that hold for every element in every program; None where the arithmetic might wrap, or where the
expression is none that is understood here. A launch knows what a text cannot: that ``first + id % rows``, with
``rows = min(count - first, 8)``, is never negative holds for a grid of the right size only.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Binary, Broadcast, Call, Cast, Expand, Expr, Name, Range, Symbol
from pytriton.lang.tree.types import INT, LONG, element_of

__all__ = ["Interval", "Intervals"]

Interval = tuple[int, int]  # both ends inclusive

_BITS = {INT: 32, LONG: 64}


class Intervals:
    """Bounds in one launch. ``values`` are those of variables that never change, ``parameters`` the launch's."""

    def __init__(
        self, values: Mapping[Symbol, Expr], parameters: Mapping[str, int], grid: tuple[int, int, int]
    ) -> None:
        self._values, self._parameters, self._grid = values, parameters, grid
        self._known: dict[Symbol, Interval | None] = {}

    def of(self, expr: Expr) -> Interval | None:
        """The bounds of an expression."""
        bits = _BITS.get(element_of(expr.type))  # type: ignore[arg-type]
        found = None if bits is None else self._of(expr)
        if found is None or bits is None:
            return None
        low, high = found
        return found if -(1 << bits - 1) <= low and high < 1 << bits - 1 else None

    def _of(self, expr: Expr) -> Interval | None:
        value = constant(expr)
        if isinstance(value, int):
            return value, value
        match expr:
            case Name(symbol=symbol):
                if symbol not in self._known:
                    self._known[symbol] = self._variable(symbol)
                return self._known[symbol]
            case Range(start=start, stop=stop):
                first, end = constant(start), constant(stop)
                assert isinstance(first, int) and isinstance(end, int)
                return first, end - 1
            case Expand(operand=operand) | Broadcast(operand=operand) | Cast(operand=operand):
                return self.of(operand)
            case Call(function="program_id" | "num_programs" as function, arguments=(axis,)):
                count = self._grid[constant(axis)]  # type: ignore[index]
                return (0, count - 1) if function == "program_id" else (count, count)
            case Call(function="min" | "max" as function, arguments=arguments):
                return _calculated(function, [self.of(argument) for argument in arguments])
            case Binary(operator=operator, left=left, right=right):
                return _calculated(operator, [self.of(left), self.of(right)])
        return None

    def _variable(self, symbol: Symbol) -> Interval | None:
        if symbol.parameter:
            value = self._parameters.get(symbol.name)
            return None if value is None else (value, value)
        return self.of(self._values[symbol]) if symbol in self._values else None


def _calculated(operator: str, operands: list[Interval | None]) -> Interval | None:
    """What an operator makes of bounds."""
    match operator, operands:
        case "+", [(a, b), (c, d)]:
            return a + c, b + d
        case "-", [(a, b), (c, d)]:
            return a - d, b - c
        case "*", [(a, b), (c, d)]:
            corners = a * c, a * d, b * c, b * d
            return min(corners), max(corners)
        case "/", [(a, b), (c, d)] if a >= 0 and c > 0:
            return a // d, b // c
        case "%", [(a, b), (c, d)] if a >= 0 and c > 0:
            return 0, min(b, d - 1)
        case "min", [(a, b), (c, d)]:
            return min(a, c), min(b, d)
        case "max", [(a, b), (c, d)]:
            return max(a, c), max(b, d)
    return None
