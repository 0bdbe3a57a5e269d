"""The traits of a kernel for tuning, from its typed tree before any variant is made; and ``stages``.

``observe`` changes nothing, so it has neither a gain nor a switch of its own. The streams that it reports are the
loops to which ``stages`` gives the number of stages that tuning requests.
"""

from __future__ import annotations

from math import prod
from typing import TypeGuard

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.types import DOUBLE, Type, shape_of
from pytriton.lang.tree.walk import bodies, kinds_in, map_body, statements
from pytriton.passes.analysis.context import PassContext, Tiles
from pytriton.passes.analysis.queries import multiplies, nodes
from pytriton.passes.memory.provenance import Provenance
from pytriton.passes.speed.swizzle import can_swizzle, grows


def observe(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel unchanged; its traits are in the context."""
    provenance = Provenance(kernel)
    context.traits = replace(
        context.traits,
        swizzles=can_swizzle(kernel),
        grows=can_swizzle(kernel) and grows(kernel),
        pipelined=any(map(_is_pipelined, statements(kernel.body))),
        streams=any(_streams(statement, provenance) for statement in statements(kernel.body)),
        doubles=any(scalar_of(operation.type) == DOUBLE for operation in nodes(kernel.body, typed.Binary)),
        tiles=largest_tiles(kernel.body),
    )
    return kernel


def _is_pipelined(statement: typed.Statement) -> bool:
    """Whether a statement is a loop that Triton pipelines by default."""
    if not isinstance(statement, typed.RangeLoop):
        return False
    kinds = kinds_in(statement.body)
    return typed.Dot in kinds and (typed.Load in kinds or typed.Atomic in kinds)


# ---------------------------------------------------------------- stages
# The number of iterations that loads run ahead in loops without matrix products.
#
# By default Triton pipelines a loop only if its loads feed a ``tl.dot``; other loops need
# ``tl.range(..., num_stages=3)``. Loads of later iterations then precede the stores of this one, so a loop gets
# stages only if none of its stores may write what it loads, and nothing in it orders memory. The loaded values stay
# the same; tuning measures the number of stages (tuning/sweep.py).
#
# Gain: batch norm on an H200 with Triton 3.6, 3806 GB/s for 3492 (benchmarks/NOTES.md).
# Switch: ``Settings.num_stages``, which tuning sets (tuning/sweep.py).
# Try without it: tuning measures both every time; by rule with the first Triton that pipelines such loops.


def stages(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """``range(0, N, TN)`` as ``tl.range(0, N, TN, num_stages=3)``, if so many stages are requested."""
    number = context.settings.num_stages
    if number is None:
        return kernel
    provenance = Provenance(kernel)

    def with_stages(statement: typed.Statement) -> typed.Statement:
        return replace(statement, stages=number) if _streams(statement, provenance) else statement

    return replace(kernel, body=map_body(kernel.body, with_stages))


def _streams(statement: typed.Statement, provenance: Provenance) -> TypeGuard[typed.RangeLoop]:
    if not isinstance(statement, typed.RangeLoop) or any(map(bodies, statement.body)):
        return False
    kinds = kinds_in(statement.body)
    if typed.Load not in kinds or typed.Dot in kinds:
        return False
    loads = nodes(statement.body, typed.Load)
    return not any(provenance.writes_to(statement.body, load.pointer) for load in loads)


# ---------------------------------------------------------------- tiles
# The minimum resources of a matrix product, before it is compiled.
#
# A loop that Triton pipelines keeps the tiles that it loads for its products in shared memory, and the sums of its
# products in registers. Both sizes follow from the types of the typed tree.
#
# Gain: configs of a sweep that cannot fit are not compiled (tuning/measure.py); not measured yet.
# Switch: none, as it changes nothing.


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
    """The load that an operand of a product is, directly or through a variable."""
    if isinstance(operand, typed.Name):
        return given.get(operand.symbol)
    return operand if isinstance(operand, typed.Load) else None


def _width(type_: Type) -> int:
    scalar = scalar_of(type_)
    return 0 if scalar is None else max(8, scalar.bits) // 8
