"""Blocks of pointers -> tiles through tensor descriptors (Hopper's TMA): a variant that tuning may add.

Input: a kernel after all other passes. Output: the kernel with loads replaced where possible; without any, the same
object. With

    pa = A + rk[None, :] + rm[:, None] * lda
    for k in range(0, K, TK):
        a = tl.load(pa)
        pa += TK

each iteration loads a tile whose corner is known: row ``pm * TM``, column ``k``. So

    tiles_a = tl.make_tensor_descriptor(A, shape=..., strides=(lda, 1), block_shape=(TM, TK))
    for k in range(0, K, TK):
        a = tiles_a.load((pm * TM, k))

reads the same elements. One thread fetches a whole tile, and no register holds an address. Where the right operand
of a product is contiguous along the axis that is summed over (``a @ ^b``, ``^a @ ^b``), that is faster on a Hopper
GPU; with a plain ``b`` pointers are faster. ``Described.feeds`` marks the former.

Proven here: an iteration adds to the pointers what it adds to the loop's variable, which counts up from 0; nothing
else moves them; no statement of the kernel may write what they reach (tiles are read through the async proxy, which
stores and barriers do not order); tiles begin at sums of program ids times constants, so never before the base. The
conditions on a launch are in a ``Described``, which runtime/launch/device.py checks each time. They also make the
extents correct: a descriptor needs extents, and gives 0 beyond them, while the kernel, without bounds, reads on.
The extents are the maximum, which no tile of a launch under these conditions reaches.

Gain: ``a @ ^b`` on an H200 with Triton 3.6, 572, 598 and 626 TFLOP/s at 2048, 4096 and 8192 for 532, 547 and 517
with pointers (benchmarks/NOTES.md). Switch: ``Settings.descriptors``, which tuning sets for its best few configs
(tuning/sweep.py). Try without it: tuning measures both every time.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from pytriton.frozen import node, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.types import (
    BFLOAT16,
    CHAR,
    FLOAT,
    HALF,
    INT,
    BlockType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import assigned_once, map_bodies, map_expressions, map_statements, reads
from pytriton.passes.analysis.affine import Affine, affine_of
from pytriton.passes.analysis.context import Described, PassContext
from pytriton.passes.analysis.liveness import remove, remove_unread
from pytriton.passes.analysis.pointers import Moved, TilePointers, terms, with_loads
from pytriton.passes.analysis.queries import nodes, with_body
from pytriton.passes.memory.provenance import Provenance

_MAX_TILE = 256  # elements that one copy takes along an axis
_MAX_BYTES_OF_FAST_OPERANDS = 2  # bytes of an element that tensor cores multiply as it is
_ALIGNMENT = 16  # bytes; of a row, its start and the distance of rows
_ELEMENT = "the number of an element in a range"  # a symbol
_ELEMENTS = (HALF, BFLOAT16, FLOAT, CHAR)
_COMMENT = (
    "tiles through tensor descriptors (TMA): the text has no bounds, so the extents are the largest there are"
)


@node
class _Tiling:
    """A block of pointers that can be tiles, where these begin, and the conditions on a launch."""

    moved: Moved
    stride: typed.Symbol
    corner: tuple[typed.Expr, typed.Expr]
    described: Described

    @property
    def pointers(self) -> typed.Symbol:
        return self.moved.pointers.symbol

    @property
    def base(self) -> typed.Symbol:
        return self.moved.tile.base


def descriptors(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel with tiles where possible, if requested; the traits record the conditions on a launch."""
    if not context.settings.descriptors:
        return kernel
    tilings = _tilings(kernel, Provenance(kernel))
    context.traits = replace(context.traits, described=tuple(tiling.described for tiling in tilings))
    return _with_tiles(kernel, tilings) if tilings else kernel


def _tilings(kernel: typed.KernelDef, provenance: Provenance) -> tuple[_Tiling, ...]:
    """Every block of pointers of the kernel that can be tiles."""
    search = _Search(kernel)
    tilings = [
        tiling
        for tiling in filter(None, map(search.tiling, search.pointers.moved()))
        if not provenance.writes_to(kernel.body, typed.Name(kernel.span, tiling.base.type, tiling.base))
    ]
    every = {tiling.pointers for tiling in tilings}
    pairs = [pair for tiling in tilings for pair in _operands(tiling.moved.loop) if every >= pair]
    feeding = set().union(*pairs)
    return tuple(
        replace(tiling, described=tiling.described._replace(feeds=True))
        if tiling.pointers in feeding and _bytes(tiling.base.type) <= _MAX_BYTES_OF_FAST_OPERANDS
        else tiling
        for tiling in tilings
    )


def _with_tiles(kernel: typed.KernelDef, tilings: tuple[_Tiling, ...]) -> typed.KernelDef:
    """The kernel with tiles for these blocks of pointers."""
    tiles_of = {tiling.pointers: _Tiles(tiling, first=tiling is tilings[0]) for tiling in tilings}

    def changed(statement: typed.Statement) -> typed.Body:
        if isinstance(statement, typed.Declare) and statement.symbol in tiles_of:
            return tiles_of[statement.symbol].declaration, replace(statement, comments=typed.Comments())
        if isinstance(statement, typed.RangeLoop):
            loads = {
                symbol: tiles.load for symbol, tiles in tiles_of.items() if tiles.counter is statement.symbol
            }
            body = map_expressions(statement.body, lambda expr: with_loads(expr, loads))
            return (with_body(statement, body),)
        return (statement,)

    body = map_statements(kernel.body, changed)
    unmoved = map_bodies(body, lambda inner: remove(inner, lambda part: _sets(part, tiles_of.keys())))
    unread = tiles_of.keys() - reads(unmoved)
    body = map_bodies(body, lambda inner: remove(inner, lambda part: _sets(part, unread)))
    return remove_unread(kernel, replace(kernel, body=body))


def _sets(statement: typed.Statement, symbols: Set[typed.Symbol]) -> bool:
    return isinstance(statement, typed.Declare | typed.Assign) and statement.symbol in symbols


class _Tiles:
    """The declaration of a descriptor for a tiling, and a load through it."""

    def __init__(self, tiling: _Tiling, first: bool) -> None:
        pointers, base, stride = tiling.moved.pointers, tiling.base, tiling.stride
        span, type_ = pointers.span, pointers.symbol.type
        symbol = typed.Symbol(f"tiles_{base.name.lower()}", type_, span)
        above = (*pointers.comments.above, _COMMENT) if first else pointers.comments.above
        given = typed.Name(span, base.type, base), typed.Name(span, stride.type, stride)
        descriptor = typed.Call(span, type_, "descriptor", given)
        self.counter = tiling.moved.loop.symbol
        self.declaration = typed.Declare(
            span, symbol, descriptor, typed.Comments(above, pointers.comments.beside)
        )
        assert isinstance(type_, BlockType) and isinstance(type_.element, PointerType)
        tile = BlockType(type_.element.element, type_.shape)
        self._tile = typed.Call(span, tile, "tile", (typed.Name(span, type_, symbol), *tiling.corner))

    def load(self, load: typed.Load) -> typed.Call:
        """The load of a tile that replaces one through pointers."""
        return replace(self._tile, span=load.span)


def _operands(loop: typed.RangeLoop) -> Iterator[frozenset[typed.Symbol]]:
    """The pointers of both operands of each product whose right one is contiguous along the sum."""
    values = {
        statement.symbol: statement.value
        for statement in assigned_once(loop.body)
        if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None
    }
    for dot in nodes(loop.body, typed.Dot):
        match _loaded_through(dot.left, dict(values)), _loaded_through(dot.right, dict(values)):
            case (left, _), (right, 0):
                yield frozenset((left, right))


def _loaded_through(
    expr: typed.Expr, values: dict[typed.Symbol, typed.Expr]
) -> tuple[typed.Symbol, int] | None:
    """The pointers that an operand was loaded through, and the axis along which these are contiguous."""
    axis = 1
    while True:
        match expr:
            case typed.Name(symbol=symbol) if symbol in values:
                expr = values.pop(symbol)
            case typed.Permute(operand=operand, order=(1, 0)):
                expr, axis = operand, 1 - axis
            case typed.Load(pointer=typed.Name(symbol=symbol), mask=None):
                return symbol, axis
            case _:
                return None


class _Search:
    """Finds blocks of pointers that can be tiles."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self.pointers = TilePointers(kernel)
        self._places = {symbol: at for at, symbol in enumerate(kernel.parameters)}

    def _stop(self, expr: typed.Expr) -> tuple[int, int] | None:
        """The end of a loop, if it is a parameter (its position) or a number (-1 and the number)."""
        value = constant(expr)
        if isinstance(value, int):
            return -1, value
        is_fixed = isinstance(expr, typed.Name) and expr.symbol in self.pointers.fixed
        return (self._places[expr.symbol], 0) if is_fixed else None  # type: ignore[union-attr]

    def tiling(self, moved: Moved) -> _Tiling | None:
        """A block of pointers as a tiling; None where it cannot be one."""
        loop, step, tile, along = moved.loop, moved.step, moved.tile, moved.along
        stop, shape = self._stop(moved.bound), shape_of(moved.pointers.symbol.type)
        if stop is None or step < 0 or any(load.mask for load in moved.loads):
            return None
        if any(size > _MAX_TILE for size in shape):
            return None
        stride, rows, columns = tile.rows.stride, tile.rows.indices, tile.columns.indices
        if stride is None or tile.columns.stride is not None:
            return None
        row_edge, column_edge = self._edge(rows), self._edge(columns)
        width = _bytes(tile.base.type)
        if row_edge is None or column_edge is None or not width:
            return None
        (row_ids, row, row_start), (column_ids, column, column_start) = row_edge, column_edge
        starts = [*column_ids, column, shape[1], step * along]
        still = not (any(column_ids) or column if along else any(row_ids) or row)
        if not still or any(start * width % _ALIGNMENT for start in starts):
            return None
        counter = typed.Name(loop.span, INT, loop.symbol)
        corner = (row_start, counter) if along else (counter, column_start)
        described = Described(
            *(self._places[tile.base], self._places[stride], *stop),
            size=shape[along],
            multiple=_ALIGNMENT // width,
            down=0 if along else step,
            row_ids=row_ids,
            last_row=row + shape[0] - 1 - sum(row_ids),
            column_ids=column_ids,
            last_column=column + shape[1] - 1 - sum(column_ids),
        )
        return _Tiling(moved, stride, corner, described)

    def _edge(self, indices: typed.Expr) -> tuple[tuple[int, int, int], int, typed.Expr] | None:
        """The first place of a tile: the factors of program ids, a constant, and both as an expression."""
        total = affine_of(self._value(indices), self._tile_term)
        if total is None or total.terms.get(_ELEMENT) != 1 or _element(indices) != INT:
            return None
        x, y, z = (total.terms.get(axis, 0) for axis in range(3))
        if total.low < 0 or min(x, y, z) < 0:
            return None
        begin: typed.Expr | None = None
        for term in terms(self._value(indices)):
            if isinstance(term, typed.Range):
                term = term.start
            if shape_of(term.type):
                return None
            if constant(term) != 0:
                begin = term if begin is None else typed.Binary(indices.span, INT, "+", begin, term)
        return (x, y, z), total.low, begin or typed.Literal(indices.span, INT, 0)

    def _value(self, expr: typed.Expr) -> typed.Expr:
        """The expression, or the value of the variable that it names."""
        while isinstance(expr, typed.Name) and expr.symbol in self.pointers.values:
            expr = self.pointers.values[expr.symbol]
        return expr

    def _tile_term(self, expr: typed.Expr) -> Affine | None:
        """Program ids, each a symbol by its axis, and a range: the only terms of the place of a tile."""
        match expr:
            case typed.Call(function="program_id", arguments=(axis,)):
                return Affine.symbol(integer(axis))
            case typed.Range(start=start):
                return Affine.symbol(_ELEMENT).plus(Affine.constant(integer(start)))
            case typed.Name(symbol=variable) if variable in self.pointers.values:
                return affine_of(self.pointers.values[variable], self._tile_term)
        return None


def _element(expr: typed.Expr) -> object:
    return element_of(expr.type)


def _bytes(type_: object) -> int:
    """The bytes of an element that is pointed to, if tiles support it; else 0."""
    element = type_.element if isinstance(type_, PointerType) else None
    return element.bits // 8 if isinstance(element, ScalarType) and element in _ELEMENTS else 0
