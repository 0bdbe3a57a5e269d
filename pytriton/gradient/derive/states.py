"""The values that a loop carries into each iteration, for a loop that is run backwards.

A value that is not a sum is needed in each iteration. ``States`` keeps it in scratch for every iteration while
the forward runs again. ``Checkpoints`` keeps it where a segment of the iterations begins, and runs each segment
again before it is run backwards: scratch for two segments is enough, at the cost of one more forward.
Integers and pointers are computed from the number of the iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.again import Level, Recomputed
from pytriton.gradient.derive.graph import Carried, Define, Loop, refuse
from pytriton.gradient.derive.loops import in_iteration
from pytriton.gradient.derive.program import live
from pytriton.lang.tree.typed import Assign, Declare, Expr, For, Name, Remark, Statement, Store, Symbol
from pytriton.lang.tree.types import INT, LONG, PointerType, ScalarType, shape_of
from pytriton.lang.tree.walk import reads


@dataclass(eq=False)
class Kept:
    """A variable in scratch. ``state``: the pointer to it; ``capacity``: the parameter with the number of
    iterations of each program that it is large enough for, or of a segment, where ``segments`` are kept; None for
    what one pass leaves for another (walk/rows.py).
    """

    name: str
    state: Symbol
    capacity: Symbol | None
    segments: bool
    loop: Loop | None
    element: ScalarType
    shape: tuple[int, ...]


class States:
    """The carried values at the start of each iteration. ``repeat``, ``first``: the recomputed loop, which now
    counts its iterations, and the block of its body; ``floats`` are saved.
    """

    capacity_name: ClassVar = "iterations"
    segments: ClassVar = False

    def __init__(
        self, of: Recomputed, loop: Loop, repeat: For, first: Level, floats: Sequence[Carried]
    ) -> None:
        self.of, self.loop, self.first = of, loop, first
        count, span = of.new("i", INT), loop.statement.span
        self.count = f.named(count)
        capacity = Symbol(self.capacity_name, INT, span, True)
        of.add_parameter(capacity)
        self.capacity = of.name_of(capacity)
        self._index = Symbol("i", INT, span)
        self.kept: list[Kept] = []
        states: dict[Carried, Expr] = {}
        for carry in floats:
            name, element, shape = (
                f"state_{carry.inside.name}",
                carry.inside.target,
                shape_of(carry.inside.type),
            )
            state = Symbol(name, PointerType(element), span, True, word=self._word(carry), noalias=True)
            of.add_parameter(state)
            states[carry] = of.name_of(state)
            self.kept.append(Kept(carry.inside.name, state, capacity, self.segments, loop, element, shape))
        self._saves: list[Statement] = []  # at the start of an iteration, the last first
        self.pointers = self._keep(states)
        body, step = (*self._saves[::-1], *repeat.body), (*repeat.step, f.increase(count, f.ONE))
        at = of.level.lines.index(repeat)
        of.level.lines[at : at + 1] = [f.declare(count, f.ZERO), replace(repeat, body=body, step=step)]

    def _keep(self, states: Mapping[Carried, Expr]) -> dict[Carried, Symbol]:
        """Let the forward save carried values; returns pointers to them."""
        pointers: dict[Carried, Symbol] = {}
        for carry, state in states.items():
            pointers[carry] = pointer = self._pointer("kept", carry)
            self._points(pointer, carry, state, f.multiply(self.of.program(), self.capacity))
            self._saves.append(self._put(carry, self.first, pointer, self.count))
        return pointers

    def open(self) -> tuple[Expr, Expr]:
        """Begin the loop over iterations in reverse: the first of them, and the one after the last."""
        return f.ZERO, self.count

    def close(self) -> None:
        """End it."""

    def begin(self, iteration: Symbol) -> None:
        """Declare the carried values of an iteration."""
        self._symbol(iteration)
        for carry, pointer in self.pointers.items():
            self.of.load(carry.inside, f.load(self._place(pointer, carry, self._row(iteration))))

    def check(self, lines: Sequence[Statement]) -> None:
        """Refuse carried values that these lines read and that are unknown."""
        changed = {line.symbol for line in lines if isinstance(line, Assign)}
        read = reads(live(lines, changed))
        for carry in self.loop.carried:
            if carry in self.pointers or self._closed_form(carry) is not None:
                continue
            if not read.isdisjoint(map(self.of.symbol_of, self.of.with_gradient(carry.inside))):
                refuse(
                    "TC708",
                    f"the loop carries '{carry.inside.name}', which does not grow by equal steps: its value in "
                    "an iteration needs all iterations before it",
                    self.loop.statement.span,
                    help="let it grow by the same amount in each iteration",
                )

    # ------------------------------------------------------------ computed from the number of the iteration

    def _symbol(self, iteration: Symbol) -> None:
        """Declare the carried integers and pointers of an iteration."""
        self.of.level.symbols[self._index] = iteration
        for carry in self.loop.carried:
            if carry not in self.pointers:
                self.of.define(
                    Define(carry.inside, self._closed_form(carry), Remark(self.loop.statement.span))
                )

    def _closed_form(self, carry: Carried) -> Expr | None:
        step = Name(self.loop.statement.span, INT, self._index)
        return in_iteration(carry, self.loop, step, {}, {})

    # ------------------------------------------------------------ scratch

    def _row(self, iteration: Symbol) -> Expr:
        return f.named(iteration)

    def _pointer(self, hint: str, carry: Carried) -> Symbol:
        return self.of.new(
            f"{hint}_{carry.inside.name}", PointerType(carry.inside.target), self._word(carry), scratch=True
        )

    def _points(self, pointer: Symbol, carry: Carried, to: Expr, rows: Expr) -> None:
        """Declare a pointer before all else, so many rows after another."""
        offset = f.multiply(rows, f.count(shape_of(carry.inside.type)))
        self.of.top.lines.insert(self.of.heads, f.declare(pointer, f.binary("+", to, offset)))

    def _place(self, pointer: Symbol, carry: Carried, row: Expr) -> Expr:
        shape = shape_of(carry.inside.type)
        offset = f.multiply(f.cast(row, LONG), f.count(shape))
        there = f.binary("+", f.named(pointer), offset)
        return there if not shape else f.binary("+", there, f.places(shape))

    def _put(
        self, carry: Carried, level: Level, pointer: Symbol, row: Expr, mask: Expr | None = None
    ) -> Store:
        """Save a variable of a block in a row of scratch."""
        return f.store(self._place(pointer, carry, row), f.named(level.symbols[carry.inside]), mask)

    def _word(self, carry: Carried) -> str:
        return self.first.symbols[carry.inside].word


class Checkpoints(States):
    """The same with scratch for two segments: for the start of each segment, and for the iterations of one."""

    capacity_name = "segment"
    segments = True

    def _keep(self, states: Mapping[Carried, Expr]) -> dict[Carried, Symbol]:
        pointers: dict[Carried, Symbol] = {}
        self._starts: dict[Carried, Symbol] = {}
        begins = f.binary("==", f.binary("%", self.count, self.capacity), f.ZERO)
        for carry, state in states.items():
            self._starts[carry] = start = self._pointer("checkpoint", carry)
            pointers[carry] = pointer = self._pointer("kept", carry)
            self._points(pointer, carry, f.named(start), self.capacity)
            rows = f.multiply(f.multiply(self.of.program(), f.number(2)), self.capacity)
            self._points(start, carry, state, rows)
            number = f.binary("/", self.count, self.capacity)
            self._saves.append(self._put(carry, self.first, start, number, begins))
        return pointers

    def open(self) -> tuple[Expr, Expr]:
        """A segment: its start is loaded, and its iterations run again and save their values."""
        of = self.of
        of.enter()
        self._segment, self._first, end = (of.new(hint, INT) for hint in ("part", "first", "end"))
        first = f.named(self._first)
        of.emit(f.declare(self._first, f.multiply(f.named(self._segment), self.capacity)))
        of.emit(f.declare(end, f.call("min", INT, f.binary("+", first, self.capacity), self.count)))
        for carry, start in self._starts.items():
            of.load(carry.inside, f.load(self._place(start, carry, f.named(self._segment))))
        iteration, carried = of.new("i", INT), of.level
        of.enter()
        self._symbol(iteration)
        for carry, pointer in self.pointers.items():
            of.emit(self._put(carry, carried, pointer, self._row(iteration)))
        of.recompute(self.loop.body)
        of.level.lines += of.ends(list(self.pointers))
        self.check(of.level.lines)
        repeat(of, f.declare(iteration, first), "<", f.named(end), f.ONE, "the segment again")
        return first, f.named(end)

    def close(self) -> None:
        rounded = f.binary("-", f.binary("+", self.count, self.capacity), f.ONE)
        last = f.binary("-", f.binary("/", rounded, self.capacity), f.ONE)
        repeat(self.of, f.declare(self._segment, last), ">=", f.ZERO, f.negated(f.ONE))

    def _row(self, iteration: Symbol) -> Expr:
        return f.binary("-", f.named(iteration), f.named(self._first))


def repeat(of: Recomputed, head: Declare, test: str, end: Expr, step: Expr, *above: str) -> None:
    """The block that is being written becomes the body of a loop."""
    lines, condition = of.leave(), f.binary(test, f.named(head.symbol), end)
    of.emit(f.loop([head], condition, [f.increase(head.symbol, step)], lines, *above))
