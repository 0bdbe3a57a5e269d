"""Blocks of pointers with two axes that are affine in both: where they begin, and how a loop moves them.

    pa = A + rm[:, newaxis] * lda + rk[newaxis, :]
    for (k = 0; k < K; k += TK) { ... *pa ...; pa += TK; }

``tile_of`` takes the sum apart: a parameter, and for each axis a block of indices with the parameter that scales
them. ``moved`` finds the loops with a product that load such a block in each iteration and then move it along one
axis by as much as they count. What the indices are is up to the callers (speed/descriptors.py, speed/packing.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set

from pytriton.frozen import node
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import INT, LONG, element_of, shape_of
from pytriton.lang.tree.walk import (
    assigned_once,
    bodies,
    kinds,
    kinds_in,
    names,
    statements,
    with_children,
)
from pytriton.passes.analysis.queries import counting, never_set, nodes, set_once


@node
class Axis:
    """One axis of a block of pointers: a block of ``indices``, each times ``stride`` (None: 1) elements."""

    indices: typed.Expr
    stride: typed.Symbol | None


@node
class Tile:
    """``base + rows[:, newaxis] + columns[newaxis, :]``."""

    base: typed.Symbol
    rows: Axis
    columns: Axis

    @property
    def axes(self) -> tuple[Axis, Axis]:
        return self.rows, self.columns


@node
class Moved:
    """A tile that a loop from 0 to ``bound``, or down to 0, moves ``along`` an axis by its ``step``.

    ``loads`` are all uses of the pointers in an iteration, before they move; nothing else sets them.
    """

    loop: typed.RangeLoop
    step: int
    bound: typed.Expr
    pointers: typed.Declare
    tile: Tile
    along: int
    loads: tuple[typed.Load, ...]


class TilePointers:
    """Analyses the blocks of pointers of one kernel."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self.fixed = never_set(kernel)
        self.values = set_once(kernel.body)
        self._body = kernel.body

    def moved(self) -> Iterator[Moved]:
        """The tiles that loops with a product move."""
        if typed.Dot not in kinds_in(self._body):
            return
        set_by = (
            statement
            for statement in statements(self._body)
            if isinstance(statement, typed.Declare | typed.Assign)
        )
        twice = {
            symbol
            for symbol, count in Counter(statement.symbol for statement in set_by).items()
            if count == 2
        }
        counters = {loop.symbol for loop in assigned_once(self._body) if isinstance(loop, typed.RangeLoop)}
        yield from self._moved_in(self._body, {}, twice | counters)

    def _moved_in(
        self, body: typed.Body, declared: Mapping[typed.Symbol, typed.Declare], wanted: Set[typed.Symbol]
    ) -> Iterator[Moved]:
        """``declared``: the blocks of pointers that are set before the body, each time that it runs; ``wanted``:
        what is set twice, and the variables that only one loop sets."""
        declarations = dict(declared)
        for statement in body:
            if isinstance(statement, typed.Declare) and statement.symbol in wanted:
                declarations[statement.symbol] = statement
            if isinstance(statement, typed.RangeLoop) and statement.symbol in wanted:
                yield from self._moved_by(statement, declarations)
            for inner in bodies(statement):
                yield from self._moved_in(
                    inner, declarations if isinstance(statement, typed.If) else {}, wanted
                )

    def _moved_by(
        self, loop: typed.RangeLoop, declared: Mapping[typed.Symbol, typed.Declare]
    ) -> Iterator[Moved]:
        counts = counting(loop)
        if counts is None or typed.Dot not in kinds_in(loop.body):
            return
        step, bound = counts
        for place, statement in enumerate(loop.body):
            if not isinstance(statement, typed.Assign) or statement.symbol not in declared:
                continue
            pointers, symbol = declared[statement.symbol], statement.symbol
            tile = None if pointers.value is None else self.tile_of(pointers.value)
            along = None if tile is None else self._moved_along(tile, symbol, statement.value, abs(step))
            if tile is None or along is None:
                continue
            before = nodes(loop.body[:place], typed.Load)
            loads = [load for load in before if _direct(load.pointer, symbol)]
            uses = sum(name.symbol is symbol for name in nodes(loop.body, typed.Name))
            if loads and uses == len(loads) + 1:
                yield Moved(loop, step, bound, pointers, tile, along, tuple(loads))

    def tile_of(self, pointers: typed.Expr) -> Tile | None:
        """A block of pointers as a tile; None where it is not one."""
        parts = terms(pointers)
        if len(shape_of(pointers.type)) != 2 or len(parts) != 3:
            return None
        base, *sums = parts
        axes = dict(index for term in sums if (index := self._index(term)) is not None)
        if not isinstance(base, typed.Name) or base.symbol not in self.fixed or set(axes) != {0, 1}:
            return None
        same = base.type == element_of(pointers.type)
        return Tile(base.symbol, axes[0], axes[1]) if same else None

    def _moved_along(self, tile: Tile, pointers: typed.Symbol, value: typed.Expr, step: int) -> int | None:
        """The one axis along which ``pointers = value`` moves them by ``step`` indices; None if there is none."""
        match value:
            case typed.Binary(operator="+", left=typed.Name(symbol=symbol), right=by) if symbol is pointers:
                positions = [at for at, axis in enumerate(tile.axes) if self._is_step(by, step, axis.stride)]
                return positions[0] if len(positions) == 1 else None
        return None

    def _is_step(self, by: typed.Expr, step: int, stride: typed.Symbol | None) -> bool:
        if stride is None:
            return constant(by) == step
        match by:
            case typed.Binary(operator="*", left=left, right=right):
                return any(
                    constant(factor) == step and self._parameter(other) is stride
                    for factor, other in ((left, right), (right, left))
                )
        return False

    def _index(self, term: typed.Expr) -> tuple[int, Axis] | None:
        """The axis of a block of indices, the indices themselves, and the parameter that scales them."""
        axis, stride = None, None
        while True:
            match term:
                case typed.Expand(operand=operand, axes=(False, True) | (True, False) as axes) if (
                    axis is None
                ):
                    term, axis = operand, int(axes[0])
                case typed.Cast(operand=operand) if _element(term) == LONG and _element(operand) == INT:
                    term = operand
                case typed.Binary(operator="*", left=left, right=right):
                    if constant(left) == 1 or constant(right) == 1:
                        term = right if constant(left) == 1 else left
                        continue
                    factor, other = (left, right) if not shape_of(left.type) else (right, left)
                    if stride is not None or (stride := self._parameter(factor)) is None:
                        return None
                    term = other
                case typed.Name(symbol=symbol) if _is_product(self.values.get(symbol)):
                    term = self.values[symbol]
                case _:
                    return None if axis is None else (axis, Axis(term, stride))

    def _parameter(self, factor: typed.Expr) -> typed.Symbol | None:
        """The integer parameter that a factor is; None if it is another factor or the kernel sets it."""
        while isinstance(factor, typed.Cast) and _element(factor) == LONG:
            factor = factor.operand
        if isinstance(factor, typed.Name) and factor.symbol in self.fixed and factor.type in (INT, LONG):
            return factor.symbol
        return None


def with_loads(
    expr: typed.Expr, loads: Mapping[typed.Symbol, Callable[[typed.Load], typed.Expr]]
) -> typed.Expr:
    """The expression with other loads through these blocks of pointers."""
    if typed.Load not in kinds(expr) or names(expr).isdisjoint(loads):
        return expr
    match expr:
        case typed.Load(pointer=typed.Name(symbol=symbol)) if symbol in loads:
            return loads[symbol](expr)
    return with_children(expr, lambda child: with_loads(child, loads))


def terms(expr: typed.Expr | None) -> list[typed.Expr]:
    """The terms of a sum, in order."""
    if isinstance(expr, typed.Binary) and expr.operator == "+":
        return [*terms(expr.left), *terms(expr.right)]
    return [] if expr is None else [expr]


def _direct(pointer: typed.Expr, symbol: typed.Symbol) -> bool:
    return isinstance(pointer, typed.Name) and pointer.symbol is symbol


def _element(expr: typed.Expr) -> object:
    return element_of(expr.type)


def _is_product(expr: typed.Expr | None) -> bool:
    return isinstance(expr, typed.Expand | typed.Cast) or (
        isinstance(expr, typed.Binary) and expr.operator == "*"
    )
