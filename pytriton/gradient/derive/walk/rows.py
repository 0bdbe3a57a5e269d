"""Numbers of each row that one pass of a backward leaves for another one.

A pass that walks over the forward's programs (turned.py) has the iterations of the forward's loop for its programs,
and cannot run the loop itself. Where the loop was made to only add (rescaled.py), its body reads what another loop
computed first, and the derivatives of what comes after read its sums. Both are the same in all iterations. Where
they are a number a row, the pass that runs the loop keeps them in scratch:

    values        what the loop that computed them defines, and the body or what comes after reads: M, log(l)
    cotangents    of the sums that are a number a row: of l, the sum of the probabilities

Input: a graph, and its loop that only adds. Output: the graph as the walk has it. There a value is loaded, and a
sum whose cotangent is kept is an output: its gradient is that scratch. Nothing else may need the loop; assemble.py
refuses a walk in which something does, and a first pass that leaves less than the walk reads.

Both passes number a row by the program and by the lane in its block, so they need the same defines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import is_floating
from pytriton.gradient.derive.graph import (
    Define,
    Item,
    Loop,
    Write,
    defined_in,
    dependent,
    read_in,
    rewritten,
    values_in,
)
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.lang.tree.types import LONG, PointerType, shape_of
from pytriton.lang.tree.walk import rebuild, same


@record
class Rows:
    """The graph of a walk, and what it needs of the pass before: for each variable the parameter, a pointer. That
    of a cotangent is an output; its gradient is the scratch. ``ones``: variables that are 1; ``programs``: the
    number of a program along each axis, and how many there are.
    """

    items: list[Item]
    loop: Loop
    values: Mapping[Symbol, Symbol]
    cotangents: Mapping[Symbol, Symbol]
    ones: Collection[Symbol]
    programs: Sequence[tuple[Expr, Expr]]

    @property
    def parameters(self) -> tuple[Symbol, ...]:
        """All of them."""
        return *self.values.values(), *self.cotangents.values()

    def place(self, symbol: Symbol, parameter: Symbol) -> Expr:
        """Where the rows of a variable are: lanes side by side, the programs one after another."""
        shape = shape_of(symbol.type)
        many, place = f.count(shape), f.named(parameter)
        lanes = [f.places(shape)] if shape else []
        offsets: list[Expr] = []
        for number, count in self.programs:
            offsets.append(f.multiply(number, many))
            many = f.multiply(f.cast(count, LONG), many)
        for offset in [*offsets[::-1], *lanes]:
            place = f.binary("+", place, offset)
        return place


def rows_of(items: Sequence[Item], loop: Loop, axes: Iterable[int]) -> Rows | None:
    """The rows for a loop; None where nothing computed its values. ``axes``: those of the grid."""
    if not loop.computed:
        return None
    at = items.index(loop)
    gone = dependent(items[:at], (), lambda item: isinstance(item, Loop) and item.constant)
    before = [item for item in items[:at] if item not in gone]
    sums = [carry.after for carry in loop.carried if is_floating(carry.after.type) and _is_row(carry.after)]
    computed = {symbol: f.named(loop.computed[symbol]) for symbol in sums}
    after = [rewritten(item, lambda expr: rebuild(expr, computed)) for item in items[at + 1 :]]
    adding = replace(loop, computed={}, ones=())
    read = read_in([adding, *after])
    values = {symbol: _parameter(symbol) for symbol in defined_in(gone) if symbol in read and _is_row(symbol)}
    cotangents = {symbol: _parameter(symbol) for symbol in sums}
    ones = {loop.computed[symbol] for symbol in loop.ones}
    rows = Rows([], adding, values, cotangents, ones, [_program(items, axis) for axis in sorted(axes)])
    loads = [Define(s, f.load(rows.place(s, p)), f.declare(s, None)) for s, p in values.items()]
    writes: list[Item] = []
    for symbol, parameter in cotangents.items():
        pointer, value = rows.place(symbol, parameter), f.named(symbol)
        writes.append(Write(pointer, value, None, f.store(pointer, value, None), False))
    return replace(rows, items=[*before, *loads, adding, *after, *writes])


def _program(items: Iterable[Item], axis: int) -> tuple[Expr, Expr]:
    """The number of a program along an axis, as the kernel names it; and how many there are."""
    number = f.of_grid("program_id", axis)
    named = (f.named(symbol) for symbol, value in values_in(items).items() if same(value, number))
    return next(named, number), f.of_grid("num_programs", axis)


def _is_row(symbol: Symbol) -> bool:
    return len(shape_of(symbol.type)) <= 1


def _parameter(symbol: Symbol) -> Symbol:
    return Symbol(
        f"{symbol.name}_rows", PointerType(symbol.target), symbol.span, True, word=symbol.word, noalias=True
    )
