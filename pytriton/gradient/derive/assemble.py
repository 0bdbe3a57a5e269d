"""One pass of a backward -> the source of its kernel.

The pass is reversed, what is not read is dropped, a walk over the forward's programs is put around it, and it is
printed. The text is a source like any other: it is read and checked where it is translated, and only there.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import Flow
from pytriton.gradient.derive.backward_passes import BackwardPass, Unwalkable
from pytriton.gradient.derive.cancelled import flow_of
from pytriton.gradient.derive.forward import Forward
from pytriton.gradient.derive.graph import Loop, every
from pytriton.gradient.derive.loops import loops_of, only_adds
from pytriton.gradient.derive.program import announced, live, loops, products, renamed, tidy
from pytriton.gradient.derive.reverse import Reversed
from pytriton.gradient.derive.states import Kept
from pytriton.gradient.derive.stored import SavedValue, saved
from pytriton.gradient.derive.walk.operands import arranged
from pytriton.gradient.derive.walk.rows import Rows, rows_of
from pytriton.gradient.derive.walk.turned import Turned, turned
from pytriton.lang.tree.typed import Body, Comments, For, KernelDef, Statement, Store, Symbol
from pytriton.lang.tree.types import INT, LONG, ScalarType, shape_of
from pytriton.lang.tree.unparse import kernel_text, sizes
from pytriton.lang.tree.walk import reads


@record
class State:
    """Scratch for what the iterations of the forward's loop number ``loop`` begin with. ``parameter``: the
    pointer; ``capacity``: the parameter with the number of them, or with that of a segment, where two ``segments``
    are kept; ``count``: elements for each. No capacity: for what one pass leaves for another one (walk/rows.py).
    """

    parameter: str
    capacity: str | None
    segments: bool
    loop: int
    count: int
    element: ScalarType


@record
class Derived:
    """One kernel of a backward. ``parameters``: in order; ``d_inputs``, ``d_outputs``: gradient parameter by name
    of the parameter. ``count``: the parameter with the number of programs of the forward along the axis that is
    looped over, and ``text_of_count`` the text in which that is a define; ``sizes``: by input, the parameter with
    the number of elements of a part of its gradient. ``stores``: the loads, by number, whose gradient
    it is proven to store in every iteration, and not to add to memory. ``rows``: what an earlier pass leaves for
    this one.
    """

    text: str
    kernel: str
    parameters: tuple[str, ...]
    d_inputs: Mapping[str, str]
    d_outputs: Mapping[str, str]
    at: BackwardPass
    count: str | None
    text_of_count: str
    sizes: Mapping[str, str]
    states: tuple[State, ...]
    rows: Rows | None
    stores: frozenset[int]


NO_WORK: Final = (0, 0)


def derived_kernel(
    forward: Forward,
    at: BackwardPass,
    inputs: Sequence[Symbol],
    wide: Collection[Symbol],
    name: str,
    left: Rows | None = None,
) -> Derived:
    """A pass, which reads what outputs hold if it needs fewer loops or products then. ``left``: what it leaves for
    others.
    """

    def assembled(
        values: Mapping[Symbol, SavedValue], segmented: Collection[Loop] = ()
    ) -> tuple[_Kernel, Derived]:
        kernel = _Kernel(forward, at, inputs, wide, name)
        if left is not None:
            kernel.leave(left)
        kernel.reversed.saved, kernel.reversed.segmented = values, segmented
        return kernel, kernel.derived()

    kernel, derived = assembled({})
    values = saved(kernel.items, kernel.reversed.flow, forward.outputs) if forward.reads_outputs else {}
    if values and kernel.work != NO_WORK:
        reading, other = assembled(values)
        if reading.work < kernel.work:
            kernel, derived = reading, other
    if forward.checkpoints and derived.states:
        loops = loops_of(every(forward.items))
        carried = {loops[state.loop] for state in derived.states if state.capacity is not None}
        _, derived = assembled(kernel.reversed.saved, carried)
    return derived


class _Kernel:
    """One pass, while it is assembled. ``work``: the number of loops in its source, and of products."""

    def __init__(
        self,
        forward: Forward,
        at: BackwardPass,
        inputs: Sequence[Symbol],
        wide: Collection[Symbol],
        name: str,
    ) -> None:
        self.forward, self.at, self.name = forward, at, name
        kernel = forward.kernel
        ways = {forward.loads[number]: (number, way) for number, way in at.ways}
        shared = [load for load, (_, way) in ways.items() if way == "sum"]
        self.summed = [forward.input_of(load) for load in shared]
        self.turn: Turned | None = None
        self.rows: Rows | None = None
        outputs = [*forward.outputs]
        parameters, items = list(kernel.parameters), forward.items
        self.sizes: dict[Symbol, Symbol] = {}
        if at.axis is not None:
            sums = None
            if at.loop is not None:
                loop, flow = loops_of(items)[at.loop], Flow(items, parameters, frozenset(inputs))
                self.rows = rows_of(items, loop, forward.flow.programs()) if forward.leaves_rows else None
                if self.rows is not None:
                    items, loop = self.rows.items, self.rows.loop
                    parameters += self.rows.parameters
                    outputs += self.rows.cotangents.values()
                sums = only_adds(loop, (carry for carry in loop.carried if flow.active(carry.name)))
                if sums is None:
                    raise Unwalkable(self.at.ways)
            self.turn = turned(items, at.axis, sums, shared, kernel.span, at.grows)
            if self.turn is None:
                raise Unwalkable(self.at.ways)
            items = self.turn.items
            ways = {new: ways[old] for new, old in self.turn.loads.items() if old in ways}
            parameters.append(self.turn.count)
            if at.has_parts:
                for symbol in self.summed:
                    size = f"size_{symbol.name}"
                    self.sizes[symbol] = Symbol(size, INT, kernel.span, True)
                parameters += self.sizes.values()
        self.parameters, self.items, self.work = parameters, items, NO_WORK
        flow = flow_of(items, parameters, frozenset(inputs), outputs)
        self.reversed = Reversed(ways, flow, parameters, inputs, wide, outputs, forward.words)
        if self.rows is not None:
            self.reversed.ones.update(self.rows.ones)
            self._keep(self.rows)

    def _keep(self, rows: Rows) -> dict[Symbol, Symbol]:
        """Have scratch for numbers of rows; returns that of cotangents."""
        gradients = {
            symbol: self.reversed.gradient(parameter) for symbol, parameter in rows.cotangents.items()
        }
        for symbol, scratch in (*rows.values.items(), *gradients.items()):
            shape = shape_of(symbol.type)
            self.reversed.kept.append(Kept(symbol.name, scratch, None, False, None, symbol.target, shape))
        return gradients

    def leave(self, rows: Rows) -> None:
        """Keep what a later pass needs."""
        of = self.reversed
        for kept, parameters in ((of.left, rows.values), (of.left_cotangents, self._keep(rows))):
            for symbol, parameter in parameters.items():
                of.add_parameter(parameter)
                kept[symbol] = rows.place(symbol, parameter)

    def derived(self) -> Derived:
        """The kernel, and its parameters."""
        forward, front = self.forward, self.forward.front
        body = tidy(self.lines(), self.reversed.raw)
        if self.turn is not None:
            body = arranged(body)
        self.work, used = (loops(body), products(body)), reads(body)
        taken = {*_RESERVED, *front.macros, *front.numbers, *(s.name for s in forward.kernel.parameters)}
        chosen: dict[Symbol, str] = {}
        parameters: dict[Symbol, Symbol] = {}
        for symbol, variable in self.reversed.parameters.items():
            of = self.reversed.primal_of.get(symbol, symbol)
            name = f"parts_{of.name}" if of is not symbol and of in self.sizes else symbol.name
            while symbol not in forward.kernel.parameters and name in taken:
                name += "_"
            taken.add(name)
            if variable in used:
                chosen[symbol] = name
                word = forward.words.type_word(symbol)
                parameters[variable] = replace(symbol, name=name, parameter=True, word=word, writeonly=False)
        counted = None if self.turn is None else self.turn.count
        gradients = {
            of: chosen[gradient] for gradient, of in self.reversed.primal_of.items() if gradient in chosen
        }
        comments = Comments(tuple(self._head(chosen, gradients)))
        body = announced(renamed(body, parameters))
        kernel = KernelDef(forward.kernel.span, self.name, tuple(parameters.values()), body, comments)
        count = None if counted is None else chosen.get(counted)
        how = forward.words, forward.settings.strict_literals, taken
        text = text_of_count = kernel_text(kernel, *how)
        if count is not None:
            uncounted = tuple(symbol for symbol in kernel.parameters if symbol.name != count)
            text_of_count = kernel_text(replace(kernel, parameters=uncounted), *how)
        stored = (store.site for store in _unconditional(body) if isinstance(store, Store))
        return Derived(
            text,
            self.name,
            tuple(chosen.values()),
            {symbol.name: gradients[symbol] for symbol in forward.inputs if symbol in gradients},
            {symbol.name: gradients[symbol] for symbol in forward.outputs if symbol in gradients},
            self.at,
            count,
            text_of_count,
            {symbol.name: chosen[size] for symbol, size in self.sizes.items() if size in chosen},
            self._states(chosen),
            self._read_rows(chosen),
            frozenset(site for site in stored if site is not None),
        )

    def _head(self, chosen: Mapping[Symbol, str], gradients: Mapping[Symbol, str]) -> list[str]:
        """Comments for the launch: the grid, and the parameters that the forward does not have."""
        at, forward = self.at, self.forward.kernel.name
        grid = f"grid: same as {forward}"
        if at.axis is not None:
            programs = (
                "as many programs or fewer" if at.has_parts else "one program for each iteration of the loop"
            )
            grid += f"; along axis {at.axis} {programs}"
        head = [grid]
        if self.turn is not None and self.turn.count in chosen:
            head.append(f"{chosen[self.turn.count]}: the programs of {forward} along axis {at.axis}")
        for of, size in self.sizes.items():
            if of in gradients:
                head.append(
                    f"{gradients[of]} [programs, {chosen[size]}]: each program's part of the gradient of {of.name}"
                )
        added = [
            self.forward.input_of(self.forward.loads[number]) for number, way in at.ways if way == "atomic"
        ]
        names = ", ".join(gradients[of] for of in dict.fromkeys(added) if of in gradients)
        if names:
            head.append(f"{names}: added to; zeroed before the first kernel")
        states = [kept for kept in self.reversed.kept if kept.state in chosen]
        head += [self._of_scratch(kept, chosen) for kept in states]
        for segment in dict.fromkeys(
            chosen[kept.capacity] for kept in states if kept.segments and kept.capacity
        ):
            head.append(
                f"{segment}: iterations in a segment; its square is at least the number of iterations"
            )
        return head

    def _states(self, chosen: Mapping[Symbol, str]) -> tuple[State, ...]:
        loops = loops_of(every(self.forward.items))
        return tuple(
            State(
                chosen[kept.state],
                None if kept.capacity is None else chosen[kept.capacity],
                kept.segments,
                0 if kept.loop is None else loops.index(kept.loop),
                math.prod(kept.shape),
                kept.element,
            )
            for kept in self.reversed.kept
            if kept.state in chosen
        )

    def _read_rows(self, chosen: Collection[Symbol]) -> Rows | None:
        """What an earlier pass leaves for this one."""
        if self.rows is None:
            return None
        values = {symbol: scratch for symbol, scratch in self.rows.values.items() if scratch in chosen}
        cotangents = {
            symbol: parameter
            for symbol, parameter in self.rows.cotangents.items()
            if self.reversed.gradient(parameter) in chosen
        }
        return replace(self.rows, values=values, cotangents=cotangents) if values or cotangents else None

    def _of_scratch(self, kept: Kept, chosen: Mapping[Symbol, str]) -> str:
        """Comment on a saved value and its size."""
        rows, when = [], "from the first kernel" if self.rows else "for the next kernel"
        when += ", which has the same defines"
        if kept.capacity is not None:
            rows = [f"{'2 * ' if kept.segments else ''}{chosen[kept.capacity]}"]
            when = f"{kept.name} as each iteration begins with it"
        if kept.segments:
            when = f"{kept.name} at the start of each segment, then of each iteration of one segment"
        shape = ", ".join(["programs", *rows, *filter(None, [sizes(kept.shape)])])
        return f"{chosen[kept.state]} [{shape}]: {when}"

    def lines(self) -> Body:
        """The statements of the pass."""
        if self.turn is None:
            return live(self.reversed.run(self.items))
        self.reversed.alone = False
        part = self.reversed.declare(self.turn.part)
        lines = live(self.reversed.run(self.items))
        unknown = self.reversed.variables_of(self.turn.unknown)
        reruns = self.at.loop is not None and loops(lines) > 1  # besides the walk over programs
        if reruns or not unknown.isdisjoint(reads(lines)):
            raise Unwalkable(self.at.ways)  # it takes the whole loop
        return self._in_parts(lines, part) if self.at.has_parts else lines

    def _in_parts(self, lines: Body, part: Symbol) -> Body:
        """The lines with pointers to this program's part of each sum."""
        axis = self.at.axis or 0
        tops: list[Statement] = [f.declare(part, f.of_grid("program_id", axis))]
        number = f.program_number((axis, *self.at.others)) if self.at.others else f.named(part)
        offset = f.cast(number, LONG)
        for symbol, size in self.sizes.items():
            gradient = self.reversed.parameters[self.reversed.gradient(symbol)]
            if gradient not in reads(lines):
                continue
            pointer = self.reversed.new(f"d_{symbol.name}", gradient.type, gradient.word)
            lines = renamed(lines, {gradient: pointer})
            there = f.multiply(offset, self.reversed.name_of(size))
            tops.append(f.declare(pointer, f.binary("+", f.named(gradient), there)))
        return (*tops, *lines)


def _unconditional(body: Body) -> Iterator[Statement]:
    """All statements but those that a branch decides about."""
    for statement in body:
        yield statement
        if isinstance(statement, For):
            yield from _unconditional(statement.body)


_RESERVED: Final = frozenset(
    """bool char short int long unsigned signed half float double bfloat16 void const restrict if else for
    while do return exp log sqrt sin cos erf rsqrt tanh sigmoid log2 exp2 pow floor ceil fma min max abs
    select trans dot atomic_add get_program_id get_num_programs newaxis true false sizeof bitcast
    static""".split()
)
