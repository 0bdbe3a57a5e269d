"""Operands read from packed copies, whose rows are aligned and end in zeros: a point that tuning may add.

Input: a kernel with ranges for loops. Output: the same for operands that the launcher has copied; where there is
none, the same object. A matrix of 4099 columns has rows that begin anywhere, so it is not loaded in vectors. The
launcher copies it (runtime/sweep/copies.py), which takes a tenth of the time of a large product, and

    for k in range(K, 0, -TK):
        b = tl.load(pb, mask=(rk[:, None] < k) & (rn[None, :] < N), other=0.0)
        pb += TK * stride_bk

becomes

    pitch_b = (N + 63) // 64 * 64
    for k in range(0, K, TK):
        b = tl.load(pb, mask=rn[None, :] < pitch_b, other=0.0)
        pb += TK * pitch_b

which loads the same values: where the mask was false there are zeros in the copy, as far as the loop goes and as
far as a row does. So the copy needs no mask along the axis of the loop, and the other mask changes once in 64
elements.

What is proved here: a parameter is named once, in a block of pointers that is affine in both axes; a loop that
always runs moves it by as much as it counts, and loads through it in each iteration, under a mask that is nothing
but the bounds of both axes, with zero elsewhere. Whatever the kernel writes lies in such a block, too. A launch is
asked for the rest: that indices are not negative, that nothing wraps, that it writes nothing that is copied.

Gain: benchmarks/NOTES.md, "Ragged sizes". Switch: ``Settings.packed``, which tuning sets (sweep/sweep.py).
Try without it: tuning measures both every time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pytriton.frozen import node, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    LONG,
    BlockType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import (
    expressions,
    kinds_in,
    map_expressions,
    map_statements,
    statements,
    walk,
)
from pytriton.passes.analysis.affine import Affine, affine_of, mirrored
from pytriton.passes.analysis.context import Box, Context, Packing, Side
from pytriton.passes.analysis.liveness import remove_unread
from pytriton.passes.analysis.pointers import Axis, Tile, TilePointers, with_loads
from pytriton.passes.analysis.queries import counting, negated, nodes

ROW = 64  # elements; rows of a copy are multiples: 16 bytes at least, and 128 of half

Bounds = Mapping[int, typed.Expr]  # axis -> what indices along it are below


@node
class _Operand:
    """A block of pointers that can point into a copy."""

    loop: typed.RangeLoop
    pointers: typed.Declare
    tile: Tile
    along: int  # the axis that the loop moves it along
    bounds: Bounds
    pitch: typed.Symbol


def packed(kernel: typed.KernelDef, context: Context) -> typed.KernelDef:
    """The kernel with such operands in copies, if they are asked for; the traits hold what can be copied."""
    operands, writes = _Search(kernel).found() if _may_pack(kernel) else ((), ())
    if not operands:
        return kernel
    places = {symbol: at for at, symbol in enumerate(kernel.parameters)}
    reads = tuple(_box(operand, places) for operand in operands)
    pointers = TilePointers(kernel)
    fixed = {
        at: symbol for symbol, at in places.items() if symbol in pointers.fixed and symbol.type in (INT, LONG)
    }
    packing = Packing(reads, writes, pointers.values, fixed)
    context.traits = replace(context.traits, packing=packing)
    return _with_copies(kernel, operands) if context.settings.packed else kernel


def _may_pack(kernel: typed.KernelDef) -> bool:
    """What is asked first, as it costs nothing."""
    inside = kinds_in(kernel.body)
    return (
        typed.Dot in inside
        and typed.Atomic not in inside
        and any(load.mask for load in nodes(kernel.body, typed.Load))
    )


def _box(operand: _Operand, places: Mapping[typed.Symbol, int]) -> Box:
    element = operand.tile.base.type.element  # type: ignore[union-attr]
    step = abs(integer(operand.loop.step))
    sides = [
        Side(axis.indices, axis.stride, operand.bounds.get(at), step if at == operand.along else 0)
        for at, axis in enumerate(operand.tile.axes)
    ]
    return Box(places[operand.tile.base], element.bits // 8, *sides)  # type: ignore[union-attr]


# ---------------------------------------------------------------- what can be packed


class _Search:
    """Looks for operands that can be packed, and for what the kernel writes."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self._kernel = kernel
        self._pointers = TilePointers(kernel)
        self._uses = Counter(name.symbol for name in nodes(kernel.body, typed.Name))

    def found(self) -> tuple[Sequence[_Operand], tuple[Box, ...]]:
        """The operands, and all that is written; no operands where that is not known."""
        operands = [*self._operands()]
        writes = [
            self._written(statement)
            for statement in statements(self._kernel.body)
            if isinstance(statement, typed.Store)
        ]
        known = tuple(box for box in writes if box is not None)
        return (operands, known) if operands and len(known) == len(writes) else ((), ())

    def _operands(self) -> Iterator[_Operand]:
        declared: dict[typed.Symbol, typed.Declare] = {}
        for statement in self._kernel.body:
            if isinstance(statement, typed.Declare) and isinstance(
                element_of(statement.symbol.type), PointerType
            ):
                declared[statement.symbol] = statement
            elif isinstance(statement, typed.RangeLoop) and (limit := self._limit(statement)) is not None:
                for place, inner in enumerate(statement.body):
                    if isinstance(inner, typed.Assign) and inner.symbol in declared:
                        operand = self._operand(statement, declared[inner.symbol], inner.value, place, limit)
                        if operand is not None:
                            yield operand

    def _limit(self, loop: typed.RangeLoop) -> typed.Expr | None:
        """How far a loop counts from 0, or from which number down to 0."""
        counts = counting(loop)
        if counts is None or self._pointers.assignments[loop.symbol] or typed.Dot not in kinds_in(loop.body):
            return None
        step, limit = counts
        return limit if not step & (abs(step) - 1) and self._is_bound(limit) else None

    def _is_bound(self, expr: typed.Expr) -> bool:
        """Whether a launcher can know it."""
        if isinstance(expr, typed.Name):
            return expr.symbol in self._pointers.fixed and expr.type == INT
        return expr.type == INT and isinstance(constant(expr), int)

    def _operand(
        self, loop: typed.RangeLoop, pointers: typed.Declare, moved: typed.Expr, place: int, limit: typed.Expr
    ) -> _Operand | None:
        symbol, step = pointers.symbol, abs(integer(loop.step))
        tile = None if pointers.value is None else self._pointers.tile_of(pointers.value)
        if tile is None or not _copied(tile.base.type) or self._uses[tile.base] != 1:
            return None
        along = self._pointers.moved_along(tile, symbol, moved, step)
        loads = [
            load
            for expr in expressions(loop.body[:place], deep=False)
            for load in walk(expr)
            if isinstance(load, typed.Load)
            and isinstance(load.pointer, typed.Name)
            and load.pointer.symbol is symbol
        ]
        if along is None or not loads:
            return None
        if self._uses[symbol] != len(loads) + 1 or self._pointers.assignments[symbol] != 2:
            return None
        bounds = [self._bounds_of(load, tile, along, loop) for load in loads]
        first = bounds[0]
        if first is None or any(each is None or not _alike(each, first) for each in bounds):
            return None
        if set(first) != {0, 1} or not _equal(first[along], limit):
            return None
        pitch = typed.Symbol(f"pitch_{tile.base.name.lower()}", INT, pointers.span)
        return _Operand(loop, pointers, tile, along, first, pitch)

    def _bounds_of(self, load: typed.Load, tile: Tile, along: int, loop: typed.RangeLoop) -> Bounds | None:
        """The bounds that the mask of a load is; None where it is anything else, or not zero elsewhere."""
        if load.mask is None or not _is_zero(load.other):
            return None
        counter = Affine.symbol(loop.symbol)
        count = counter if integer(loop.step) > 0 else self._sum(loop.start, None).plus(counter, -1)  # type: ignore[union-attr]
        return self._bounds(load.mask, tile, {along: count})

    def _bounds(self, mask: typed.Expr, tile: Tile, counts: Mapping[int, Affine]) -> Bounds | None:
        """A mask that is nothing but upper bounds of both axes, of each at most one."""
        found: dict[int, typed.Expr] = {}
        for comparison in self._conjuncts(mask, None):
            bound = None if comparison is None else self._bound(*comparison, tile, counts)
            if bound is None or bound[0] in found:
                return None
            found[bound[0]] = bound[1]
        return found

    def _conjuncts(
        self, mask: typed.Expr, axis: int | None
    ) -> Iterator[tuple[typed.Binary, int | None] | None]:
        """The comparisons that a mask is the conjunction of, and the axis that each is spread along, if it is; None
        for what is no comparison."""
        match mask:
            case typed.Name(symbol=symbol) if symbol in self._pointers.values:
                yield from self._conjuncts(self._pointers.values[symbol], axis)
            case typed.Broadcast(operand=operand) if len(shape_of(operand.type)) in (
                0,
                len(shape_of(mask.type)),
            ):
                yield from self._conjuncts(operand, axis)
            case typed.Expand(operand=operand, axes=(False, True) | (True, False) as axes) if axis is None:
                yield from self._conjuncts(operand, int(axes[0]))
            case typed.Binary(operator="&&", left=left, right=right):
                yield from self._conjuncts(left, axis)
                yield from self._conjuncts(right, axis)
            case typed.Binary(operator="<" | ">"):
                yield (mask if mask.operator == "<" else mirrored(mask)), axis
            case _:
                yield None

    def _bound(
        self, claim: typed.Binary, axis: int | None, tile: Tile, counts: Mapping[int, Affine]
    ) -> tuple[int, typed.Expr] | None:
        """The axis whose indices a comparison bounds, and by what.

        An index is the tile's, and what the loop has counted so far: ``rk < k``, where k counts down from K, says
        that ``rk + K - k`` is below K. Sides are sums of such terms and no number, so that they wrap nowhere.
        """
        if element_of(claim.left.type) != INT:
            return None
        low, high = self._sum(claim.left, axis), self._sum(claim.right, axis)
        if low is None or high is None or low.low or low.high:
            return None
        for at, side in enumerate(tile.axes):
            if not isinstance(side.indices, typed.Name) or element_of(side.indices.symbol.type) != INT:
                continue
            if low.terms.get((at, side.indices.symbol)) != 1:
                continue
            index = Affine.symbol((at, side.indices.symbol)).plus(counts.get(at, Affine({})))
            rest = high.plus(low, -1).plus(index)
            if not rest.terms and rest.low == rest.high:
                return at, typed.Literal(claim.span, INT, rest.low)
            if [*rest.terms.values()] == [1] and not rest.low and not high.low:
                (symbol,) = rest.terms
                if isinstance(symbol, typed.Symbol) and symbol in self._pointers.fixed and symbol.type == INT:
                    return at, typed.Name(claim.span, INT, symbol)
        return None

    def _sum(self, expr: typed.Expr, axis: int | None) -> Affine | None:
        """An integer as a sum of variables; blocks of one axis with the axis that they are spread along."""

        def term(part: typed.Expr, axis: int | None = axis) -> Affine | None:
            match part:
                case typed.Name(symbol=symbol) if not shape_of(part.type):
                    return Affine.symbol(symbol)
                case typed.Name(symbol=symbol) if len(shape_of(part.type)) == 1 and axis is not None:
                    return Affine.symbol((axis, symbol))
                case typed.Expand(operand=operand, axes=(False, True) | (True, False) as axes) if (
                    axis is None
                ):
                    return affine_of(operand, lambda inner: term(inner, int(axes[0])))
                case typed.Broadcast(operand=operand) if not shape_of(operand.type):
                    return affine_of(operand, lambda inner: term(inner, axis))
            return None

        return affine_of(expr, term)

    def _written(self, store: typed.Store) -> Box | None:
        """Where a store may write; None if it is not known."""
        pointer = store.pointer
        if isinstance(pointer, typed.Name):
            pointer = self._pointers.values.get(pointer.symbol, pointer)
        tile = self._pointers.tile_of(pointer)
        if tile is None or not isinstance(tile.base.type, PointerType):
            return None
        element = tile.base.type.element
        bounds = (self._bounds(store.mask, tile, {}) if store.mask is not None else None) or {}
        sides = [Side(axis.indices, axis.stride, bounds.get(at)) for at, axis in enumerate(tile.axes)]
        base = self._kernel.parameters.index(tile.base)
        return Box(base, element.bits // 8, *sides) if isinstance(element, ScalarType) else None


def _copied(type_: object) -> bool:
    """Whether there are copies of such elements."""
    element = type_.element if isinstance(type_, PointerType) else None
    return isinstance(element, ScalarType) and element.bits in (8, 16, 32, 64)


def _is_zero(other: typed.Expr | None) -> bool:
    """Whether what a load gives under a false mask is 0, not -0."""
    while isinstance(other, typed.Broadcast):
        other = other.operand
    value = 0 if other is None else constant(other)
    return value is not None and value == 0 and math.copysign(1, value) == 1


def _equal(left: typed.Expr, right: typed.Expr) -> bool:
    """Whether two bounds are the same parameter or number."""
    if isinstance(left, typed.Name) or isinstance(right, typed.Name):
        return isinstance(left, typed.Name) and isinstance(right, typed.Name) and left.symbol is right.symbol
    return constant(left) == constant(right)


def _alike(left: Bounds, right: Bounds) -> bool:
    return left.keys() == right.keys() and all(_equal(left[axis], right[axis]) for axis in left)


# ---------------------------------------------------------------- the kernel that reads copies


def _with_copies(kernel: typed.KernelDef, operands: Sequence[_Operand]) -> typed.KernelDef:
    """The kernel with these operands read from their copies."""
    declared = {operand.pointers: operand for operand in operands}
    moved = {operand.pointers.symbol: operand for operand in operands}

    def changed(statement: typed.Statement) -> typed.Body:
        if isinstance(statement, typed.Declare) and statement in declared:
            return _declared(declared[statement])
        if isinstance(statement, typed.Assign) and statement.symbol in moved:
            by = _moved_by(moved[statement.symbol])
            assert isinstance(statement.value, typed.Binary)
            return (replace(statement, value=replace(statement.value, right=by)),)
        return (statement,)

    body = map_statements(kernel.body, changed)
    loads = {symbol: partial(_loaded, operand=operand) for symbol, operand in moved.items()}
    body = map_expressions(body, lambda expr: with_loads(expr, loads))
    return remove_unread(kernel, replace(kernel, body=body))


def _declared(operand: _Operand) -> typed.Body:
    """The distance of the copy's rows, and the pointers into it."""
    pointers, tile = operand.pointers, operand.tile
    span, type_, above = pointers.span, pointers.symbol.type, pointers.comments.above
    comment = f"{tile.base.name} is a copy here, with zeros where the bounds end; its rows lie so far apart"
    size, number = (
        typed.Literal(span, INT, _multiple(operand)),
        typed.Literal(span, INT, _multiple(operand) - 1),
    )
    raised = typed.Binary(span, INT, "+", operand.bounds[1], number)
    pitch = typed.Binary(span, INT, "*", typed.Binary(span, INT, "/", raised, size), size)
    row, column = (_spread(tile.axes[at], at) for at in (0, 1))
    rows = typed.Binary(span, row.type, "*", row, typed.Name(span, INT, operand.pitch))
    element = element_of(type_)
    first = typed.Binary(
        span, BlockType(element, shape_of(row.type)), "+", typed.Name(span, tile.base.type, tile.base), rows
    )
    return (
        typed.Declare(span, operand.pitch, pitch, typed.Comments((*above, comment))),
        replace(
            pointers,
            value=typed.Binary(span, type_, "+", first, column),
            comments=typed.Comments((), pointers.comments.beside),
        ),
    )


def _multiple(operand: _Operand) -> int:
    """What the columns of a copy are a multiple of: whole steps of the loop, if that goes along them."""
    return max(ROW, abs(integer(operand.loop.step)) if operand.along else 0)


def _moved_by(operand: _Operand) -> typed.Expr:
    """What an iteration adds to the pointers."""
    loop, span = operand.loop, operand.pointers.span
    size = loop.step if integer(loop.step) > 0 else negated(loop.step)
    return size if operand.along else typed.Binary(span, INT, "*", size, typed.Name(span, INT, operand.pitch))


def _spread(axis: Axis, at: int) -> typed.Expr:
    """The indices of an axis, as a block of two."""
    (size,) = shape_of(axis.indices.type)
    shape, axes = ((size, 1), (False, True)) if at == 0 else ((1, size), (True, False))
    return typed.Expand(axis.indices.span, BlockType(INT, shape), axis.indices, axes)


def _loaded(load: typed.Load, operand: _Operand) -> typed.Load:
    """A load from a copy: no mask along the axis of the loop, and whole rows."""
    at = 1 - operand.along
    indices = _spread(operand.tile.axes[at], at)
    limit = typed.Name(load.span, INT, operand.pitch) if at else operand.bounds[0]
    mask = typed.Binary(load.span, BlockType(BOOL, shape_of(indices.type)), "<", indices, limit)
    return replace(load, mask=mask)
