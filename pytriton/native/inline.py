"""Blocks that are computed where they are used: ranges, pointers, masks made of these.

Input: a kernel. Output: for each such symbol its definition. A block is inline if it is declared once with a
cheap expression of ranges and of scalars that are set once: within the scope of the declaration all of these keep
their values. A block of pointers that is only ever advanced by scalars (``pa += TK``) is its
first value plus an offset, one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytriton.frozen import record
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Expr, Statement, Symbol
from pytriton.lang.tree.types import LONG, PointerType, element_of, shape_of
from pytriton.lang.tree.walk import names, statements, walk

MAX_NODES: Final = 40  # of a definition, with those of the blocks in it

PROGRAM: Final = ("program_id", "num_programs")  # functions without work
_CHEAP: Final = (
    typed.Literal
    | typed.Constexpr
    | typed.Name
    | typed.Range
    | typed.Cast
    | typed.Broadcast
    | typed.Expand
    | typed.Unary
    | typed.Binary
)


@record
class Inline:
    """A definition; ``offset`` is the variable that counts by how many elements its pointers moved."""

    value: Expr
    offset: Symbol | None = None


def inlined(kernel: typed.KernelDef) -> Mapping[Symbol, Inline]:
    """The blocks that are computed where they are used."""
    settings: dict[Symbol, list[Statement]] = {}
    for statement in statements(kernel.body):
        if isinstance(statement, typed.Declare | typed.Assign | typed.RangeLoop):
            settings.setdefault(statement.symbol, []).append(statement)
    once = {symbol for symbol, changes in settings.items() if len(changes) == 1} - set(kernel.parameters)
    once |= set(kernel.parameters) - settings.keys()  # a launch sets them, so any statement is a second time
    result: dict[Symbol, Inline] = {}
    sizes: dict[Symbol, int] = {}
    for symbol, (first, *later) in settings.items():
        if not shape_of(symbol.type) or not isinstance(first, typed.Declare) or first.value is None:
            continue
        size = _size(first.value, once, sizes)
        if size > MAX_NODES:
            continue
        if not later:
            result[symbol], sizes[symbol] = Inline(first.value), size
        elif isinstance(element_of(symbol.type), PointerType) and all(
            isinstance(change, typed.Assign) and advance(symbol, change.value) is not None for change in later
        ):
            offset = Symbol(f"{symbol.name}_offset", LONG, symbol.span)
            result[symbol], sizes[symbol] = Inline(first.value, offset), size + 1
            # What it is computed from must not change, but it does itself: no other block is made of it.
    return result


def _size(value: Expr, once: set[Symbol], sizes: Mapping[Symbol, int]) -> int:
    """How many nodes are evaluated for an element; more than ``MAX_NODES`` of what cannot be inline."""
    total = 0
    for node in walk(value):
        plain = isinstance(node, _CHEAP) or (isinstance(node, typed.Call) and node.function in PROGRAM)
        if isinstance(node, typed.Binary) and node.operator in ("/", "%") and shape_of(node.type):
            plain = False
        if isinstance(node, typed.Name):
            if shape_of(node.symbol.type):
                plain = node.symbol in sizes and node.symbol in once
            else:
                plain = node.symbol in once or node.symbol.value is not None
            total += sizes.get(node.symbol, 0)
        if not plain:
            return MAX_NODES + 1
        total += 1
    return total


def advance(symbol: Symbol, value: Expr) -> tuple[str, Expr] | None:
    """The operator and the scalar of ``p + n`` or ``p - n``, where that is all that an assignment does."""
    match value:
        case typed.Binary(operator="+" | "-" as operator, left=typed.Name() as name, right=right) if (
            name.symbol is symbol
        ):
            while isinstance(right, typed.Broadcast):
                right = right.operand
            if shape_of(right.type) or symbol in names(right) or isinstance(right.type, PointerType):
                return None
            return operator, right
    return None
