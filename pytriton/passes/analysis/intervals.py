"""Abstract interpretation of integer expressions with the numbers of one launch: its grid and its parameters.

``LaunchEvaluator`` is generic in the abstract value: here the smallest and the largest number, over all elements
and all programs; in gradient/enumerated.py all numbers. A value is None where the arithmetic might wrap, or the
expression is not supported. A launch decides what the source cannot: ``first + id % rows``, with ``rows = min(count
- first, 8)``, is never negative only for a grid of the right size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.types import INT, LONG, element_of
from pytriton.lang.tree.walk import children

Grid = tuple[int, int, int]
Interval = tuple[int, int]  # both ends inclusive
Value = TypeVar("Value")

_BITS = {INT: 32, LONG: 64}


class LaunchEvaluator(Generic[Value]):
    """Expressions in one launch. ``values``: of variables that are set once; ``parameters``: of the launch.

    ``number`` gives the abstract value of a number, ``operation`` that of an expression from its operands.
    """

    def __init__(
        self,
        values: Mapping[typed.Symbol, typed.Expr],
        parameters: Mapping[typed.Symbol, int],
        grid: Grid,
        number: Callable[[int], Value],
        operation: Callable[[typed.Expr, Sequence[Value], Grid], Value | None],
    ) -> None:
        self.parameters = parameters
        self._values, self._grid, self._number, self._operation = values, grid, number, operation
        self._results: dict[typed.Expr, Value | None] = {}

    def of(self, expr: typed.Expr) -> Value | None:
        """The value of an expression."""
        if expr not in self._results:
            self._results[expr] = self._of(expr)
        return self._results[expr]

    def _of(self, expr: typed.Expr) -> Value | None:
        number = constant(expr)
        if isinstance(number, int):
            return self._number(number)
        match expr:
            case typed.Name(symbol=symbol) if symbol in self._values:
                return self.of(self._values[symbol])
            case typed.Name(symbol=symbol):
                return self._number(self.parameters[symbol]) if symbol in self.parameters else None
            case typed.Call(function="num_programs", arguments=(axis,)):
                return self._number(self._grid[integer(axis)])
        operands = [self.of(operand) for operand in children(expr)]
        intervals = [operand for operand in operands if operand is not None]
        return self._operation(expr, intervals, self._grid) if len(intervals) == len(operands) else None


def intervals(
    values: Mapping[typed.Symbol, typed.Expr], parameters: Mapping[typed.Symbol, int], grid: Grid
) -> LaunchEvaluator[Interval]:
    """The evaluator of smallest and largest values."""
    return LaunchEvaluator(values, parameters, grid, lambda number: (number, number), _interval)


def _interval(expr: typed.Expr, operands: Sequence[Interval], grid: Grid) -> Interval | None:
    bits, interval = _BITS.get(element_of(expr.type)), _unwrapped(expr, operands, grid)  # type: ignore[arg-type]
    if interval is None or bits is None:
        return None
    return interval if -(1 << bits - 1) <= interval[0] and interval[1] < 1 << bits - 1 else None


def _unwrapped(expr: typed.Expr, operands: Sequence[Interval], grid: Grid) -> Interval | None:
    match expr, operands:
        case typed.Call(function="program_id"), [(axis, _)]:
            return 0, grid[axis] - 1
        case typed.Range(), [(first, _), (_, end)]:
            return first, end - 1
        case typed.Expand() | typed.Broadcast() | typed.Cast(), [operand]:
            return operand
        case typed.Binary(operator="+"), [(a, b), (c, d)]:
            return a + c, b + d
        case typed.Binary(operator="-"), [(a, b), (c, d)]:
            return a - d, b - c
        case typed.Binary(operator="*"), [(a, b), (c, d)]:
            corners = a * c, a * d, b * c, b * d
            return min(corners), max(corners)
        case typed.Binary(operator="/"), [(a, b), (c, d)] if a >= 0 and c > 0:
            return a // d, b // c
        case typed.Binary(operator="%"), [(a, b), (c, d)] if a >= 0 and c > 0:
            return 0, min(b, d - 1)
        case typed.Call(function="min"), [(a, b), (c, d)]:
            return min(a, c), min(b, d)
        case typed.Call(function="max"), [(a, b), (c, d)]:
            return max(a, c), max(b, d)
    return None
