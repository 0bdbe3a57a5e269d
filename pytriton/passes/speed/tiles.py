"""How much a matrix product needs of a GPU at least: said before anything is compiled.

A loop that Triton pipelines keeps the tiles that it loads for its products in shared memory, and the sums of its
products in registers. Both sizes stand in the types of the typed tree.

Gain: points of a sweep that cannot fit are not compiled (runtime/tune/measure.py); not measured yet.
Switch: none, it only reads.
"""

from __future__ import annotations

from math import prod

from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.types import Type, shape_of
from pytriton.lang.tree.walk import statements
from pytriton.passes.analysis.context import Tiles
from pytriton.passes.analysis.queries import multiplies, nodes


def largest_tiles(body: typed.Body) -> Tiles:
    """The tiles of the loop that loads most; nothing where no loop has a product of what it loads."""
    loops = [
        _tiles(loop)
        for loop in statements(body)
        if isinstance(loop, typed.RangeLoop) and multiplies(loop.body)
    ]
    return max(loops, key=lambda tiles: (tiles.loaded, tiles.summed), default=Tiles())


def _tiles(loop: typed.RangeLoop) -> Tiles:
    given = {
        statement.symbol: statement.value
        for statement in loop.body
        if isinstance(statement, typed.Declare | typed.Assign) and isinstance(statement.value, typed.Load)
    }
    dots = nodes(loop.body, typed.Dot)
    loads = {load for dot in dots for load in (_load(dot.left, given), _load(dot.right, given)) if load}
    sums = [dot for dot in dots if dot.accumulator is not None]
    return Tiles(
        loaded=sum(prod(shape_of(load.type)) * _width(load.type) for load in loads),
        width=min((_width(load.type) for load in loads), default=0),
        summed=max((prod(shape_of(dot.type)) for dot in sums if _width(dot.type) == 4), default=0),
    )


def _load(operand: typed.Expr, given: dict[typed.Symbol, typed.Load]) -> typed.Load | None:
    """The load that an operand of a product is, as it stands."""
    if isinstance(operand, typed.Name):
        return given.get(operand.symbol)
    return operand if isinstance(operand, typed.Load) else None


def _width(type_: Type) -> int:
    scalar = scalar_of(type_)
    return 0 if scalar is None else max(8, scalar.bits) // 8
