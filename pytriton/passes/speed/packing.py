"""Operands read from packed copies, whose rows are aligned and padded with zeros: a variant that tuning may add.

Input: a kernel with ranges for loops. Output: the kernel for operands that the launcher has copied; without any,
the same object. The rows of a matrix of 4099 columns are not aligned, so it is not loaded in vectors. The launcher
copies it (tuning/copies.py), which takes a tenth of the time of a large product, and

    for k in range(K, 0, -TK):
        b = tl.load(pb, mask=(rk[:, None] < k) & (rn[None, :] < N), other=0.0)
        pb += TK * stride_bk

becomes

    pitch_b = (N + 63) // 64 * 64
    for k in range(0, K, TK):
        b = tl.load(pb, mask=rn[None, :] < pitch_b, other=0.0)
        pb += TK * pitch_b

which loads the same values: where the mask was false the copy has zeros, up to the end of the loop and of the row.
So the copy needs no mask along the axis of the loop, and the other mask changes once in 64 elements.

Proven here: a parameter is used once, in a block of pointers that is affine in both axes; a loop that always runs
moves it by as much as it counts, and loads through it in each iteration, under a mask that consists of the bounds
of both axes, with zero elsewhere. All that the kernel writes is in such a block, too. The rest is checked at each
launch: indices are not negative, nothing wraps, and nothing that is copied is written.

Gain: benchmarks/NOTES.md, "Ragged sizes". Switch: ``Settings.packed``, which tuning sets (tuning/sweep.py).
Try without it: tuning measures both every time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from pytriton.frozen import node, replace
from pytriton.lang.recording import is_power_of_2, pinned
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
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
from pytriton.lang.tree.walk import bodies, inside, kinds_in, map_expressions, map_statements, statements
from pytriton.passes.analysis.affine import Affine, affine_of, mirrored
from pytriton.passes.analysis.context import Box, Packing, PassContext, Side
from pytriton.passes.analysis.liveness import remove_unread
from pytriton.passes.analysis.pointers import Axis, Moved, Tile, TilePointers, with_loads
from pytriton.passes.analysis.queries import negated, nodes

ROW = 64  # elements; rows of a copy are multiples: 16 bytes at least, and 128 of half

Bounds = Mapping[int, typed.Expr]  # axis -> upper bound of its indices (exclusive)


@node
class _Operand:
    """A block of pointers that can point into a copy."""

    moved: Moved
    bounds: Bounds
    pitch: typed.Symbol


def packed(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel with such operands read from copies, if requested; the traits record what can be copied."""
    operands, writes = _Search(kernel).operands_and_writes() if _may_pack(kernel) else ((), ())
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
    """A cheap test to begin with."""
    kinds = kinds_in(kernel.body)
    return (
        typed.Dot in kinds
        and typed.Atomic not in kinds
        and any(load.mask for load in nodes(kernel.body, typed.Load))
    )


def _box(operand: _Operand, places: Mapping[typed.Symbol, int]) -> Box:
    moved = operand.moved
    base = moved.tile.base
    sides = [
        Side(axis.indices, axis.stride, operand.bounds.get(at), abs(moved.step) if at == moved.along else 0)
        for at, axis in enumerate(moved.tile.axes)
    ]
    return Box(places[base], base.type.element.bits // 8, *sides)  # type: ignore[union-attr]


# ---------------------------------------------------------------- analysis


class _Search:
    """Finds operands that can be packed, and all that the kernel writes."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self._kernel = kernel
        self._pointers = TilePointers(kernel)
        self._uses = Counter(name.symbol for name in nodes(kernel.body, typed.Name))

    def operands_and_writes(self) -> tuple[Sequence[_Operand], tuple[Box, ...]]:
        """The operands, and all that is written; no operands if that is unknown."""
        operands = [*filter(None, map(self._operand, self._pointers.moved()))]
        writes = [
            self._written(statement)
            for statement in statements(self._kernel.body)
            if isinstance(statement, typed.Store)
        ]
        boxes = tuple(box for box in writes if box is not None)
        return (operands, boxes) if operands and len(boxes) == len(writes) else ((), ())

    def _operand(self, moved: Moved) -> _Operand | None:
        """What a tile becomes; None where it cannot be copied, or its loop may not run."""
        tile, symbol, along = moved.tile, moved.pointers.symbol, moved.along
        nested = any(symbol in inside(statement).reads for statement in moved.loop.body if bodies(statement))
        if nested or moved.loop not in self._kernel.body or not self._is_limit(moved):
            return None
        if not _copied(tile.base.type) or self._uses[tile.base] != 1:
            return None
        if self._uses[symbol] != len(moved.loads) + 1:
            return None
        bounds = [self._bounds_of(load, moved) for load in moved.loads]
        first = bounds[0]
        if first is None or any(bound is None or not _alike(bound, first) for bound in bounds):
            return None
        if set(first) != {0, 1} or not _equal(first[along], moved.bound):
            return None
        pitch = typed.Symbol(f"pitch_{tile.base.name.lower()}", INT, moved.pointers.span)
        return _Operand(moved, first, pitch)

    def _is_limit(self, moved: Moved) -> bool:
        """Whether a launcher can know how far the loop counts, in steps of a power of two."""
        limit = moved.bound
        if not is_power_of_2(abs(moved.step)) or limit.type != INT:
            return False
        if isinstance(limit, typed.Name):
            return limit.symbol in self._pointers.fixed
        return isinstance(constant(limit), int)

    def _bounds_of(self, load: typed.Load, moved: Moved) -> Bounds | None:
        """The bounds that the mask of a load consists of, if it is zero elsewhere; else None."""
        if load.mask is None or not _is_zero(load.other):
            return None
        counter = Affine.symbol(moved.loop.symbol)
        count = counter if moved.step > 0 else self._sum(moved.bound, None).plus(counter, -1)  # type: ignore[union-attr]
        return self._bounds(load.mask, moved.tile, {moved.along: count})

    def _bounds(self, mask: typed.Expr, tile: Tile, counts: Mapping[int, Affine]) -> Bounds | None:
        """The bounds that a mask consists of, at most one for each axis."""
        bounds: dict[int, typed.Expr] = {}
        for comparison in self._conjuncts(mask, None):
            bound = None if comparison is None else self._bound(*comparison, tile, counts)
            if bound is None or bound[0] in bounds:
                return None
            bounds[bound[0]] = bound[1]
        return bounds

    def _conjuncts(
        self, mask: typed.Expr, axis: int | None
    ) -> Iterator[tuple[typed.Binary, int | None] | None]:
        """The comparisons whose conjunction a mask is, each with the axis that it is spread along; None for other
        conditions."""
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

        An index is that of the tile plus what the loop has counted so far: ``rk < k``, where k counts down from K,
        means that ``rk + K - k`` is below K. The sums have no constants, so that they do not wrap.
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
        """An integer as a sum of variables; the symbol of a block includes the axis that it is spread along."""

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
        """The memory that a store may write; None if unknown."""
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
    """Whether elements of this type can be copied."""
    element = type_.element if isinstance(type_, PointerType) else None
    return isinstance(element, ScalarType) and element.bits in (8, 16, 32, 64)


def _is_zero(other: typed.Expr | None) -> bool:
    """Whether a load gives 0, not -0, under a false mask."""
    while isinstance(other, typed.Broadcast):
        other = other.operand
    value = 0 if other is None else constant(other)
    return value is not None and value == 0 and math.copysign(1, pinned(value)) == 1


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
    declared = {operand.moved.pointers: operand for operand in operands}
    moved = {operand.moved.pointers.symbol: operand for operand in operands}

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
    pointers, tile = operand.moved.pointers, operand.moved.tile
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
    """The factor of the number of columns of a copy: whole steps of the loop, if it moves along them."""
    return max(ROW, abs(operand.moved.step) if operand.moved.along else 0)


def _moved_by(operand: _Operand) -> typed.Expr:
    """The amount that an iteration adds to the pointers."""
    moved, span = operand.moved, operand.moved.pointers.span
    size = moved.loop.step if moved.step > 0 else negated(moved.loop.step)
    return size if moved.along else typed.Binary(span, INT, "*", size, typed.Name(span, INT, operand.pitch))


def _spread(axis: Axis, at: int) -> typed.Expr:
    """The indices of an axis, as a block of two."""
    (size,) = shape_of(axis.indices.type)
    shape, axes = ((size, 1), (False, True)) if at == 0 else ((1, size), (True, False))
    return typed.Expand(axis.indices.span, BlockType(INT, shape), axis.indices, axes)


def _loaded(load: typed.Load, operand: _Operand) -> typed.Load:
    """A load from a copy: no mask along the axis of the loop, and whole rows."""
    at = 1 - operand.moved.along
    indices = _spread(operand.moved.tile.axes[at], at)
    limit = typed.Name(load.span, INT, operand.pitch) if at else operand.bounds[0]
    mask = typed.Binary(load.span, BlockType(BOOL, shape_of(indices.type)), "<", indices, limit)
    return replace(load, mask=mask)
