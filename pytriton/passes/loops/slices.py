"""The statements at the end of a loop's body that make a value for the next iteration: what a prefetch consists of.

A ``Slice`` is a set of assignments that can run at the start of the next iteration instead, in the same order,
without any other statement noticing: it holds whatever follows one of them in the body and reads or sets what
that sets. With ``widen`` a slice also takes along what changes an operand after its use (``a = *pa; pa += T``)
and the variables of the iteration that serve nothing else, so that the moved statements read as they did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from pytriton.lang.tree.typed import Assign, Atomic, Declare, Expr, If, Name, Statement, Symbol
from pytriton.lang.tree.types import BOOL, element_of
from pytriton.lang.tree.walk import assigned, expressions, has_memory, inside, names, reads, rebuild
from pytriton.passes.analysis.linear import one_step_back
from pytriton.passes.analysis.queries import has_load, larger_than
from pytriton.passes.loops.iteration import Iteration

__all__ = ["Line", "Slice", "Unmovable", "grow"]

_MAX_STATEMENTS = 64  # statements of a slice
_MAX_DEPTH = 24  # how many variables of an iteration are followed
_MAX_NODES = 100  # nodes of a value that is written instead of its variable


class Unmovable(Exception):
    """The statements cannot run in the next iteration: some statement of this iteration needs them."""


@dataclasses.dataclass(slots=True, eq=False)
class Line:
    """One statement of an iteration. ``guard``: the ``if`` around it, which fails in the last one only."""

    statement: Statement
    guard: If | None = None
    reads: frozenset[Symbol] = dataclasses.field(init=False)
    sets: frozenset[Symbol] = dataclasses.field(init=False)
    movable: bool = dataclasses.field(init=False)  # it only computes the value of one variable

    def __post_init__(self) -> None:
        known = inside(self.statement)
        self.reads, self.sets = known.reads, known.sets
        self.movable = self.value is not None and Atomic not in known.kinds

    @property
    def value(self) -> Expr | None:
        """What the statement sets its variable to, if it is an assignment and nothing else."""
        return self.statement.value if isinstance(self.statement, Declare | Assign) else None


def grow(
    lines: Sequence[Line], start: int, iteration: Iteration, *, widen: bool, computed: bool = True
) -> Slice:
    """The slice of the load at a position; raises Unmovable.

    ``computed``: with the variables of the iteration that it is computed from, where these are loaded themselves.
    """
    chosen = {start}
    local = {line.statement.symbol for line in lines if isinstance(line.statement, Declare)}
    heavy = _heavy(lines, local) if computed else set()
    pending = [start]
    while pending:
        place = pending.pop()
        for other in _needed(lines, place, chosen, heavy, widen):
            if not lines[other].movable or len(chosen) == _MAX_STATEMENTS:
                raise Unmovable
            chosen.add(other)
            pending.append(other)
        if not pending and widen and len(chosen) < _MAX_STATEMENTS:
            pending += _temporaries(lines, chosen, local)
            chosen.update(pending)
    grown = Slice(lines, tuple(sorted(chosen)), iteration, frozenset(local))
    if grown.targets & reads(iteration.between):
        raise Unmovable
    return grown


def _heavy(lines: Sequence[Line], local: set[Symbol]) -> set[Symbol]:
    """The variables of the iteration that are computed from memory."""
    computed: set[Symbol] = set()
    for line in lines:
        if line.reads & computed or any(map(has_memory, expressions((line.statement,)))):
            computed |= line.sets & local
    return computed


def _needed(
    lines: Sequence[Line], place: int, chosen: set[int], heavy: set[Symbol], widen: bool
) -> list[int]:
    """What must move along with one statement."""
    line = lines[place]
    places = []
    for other, near in enumerate(lines):
        if other in chosen:
            continue
        if other < place:
            needed = near.sets & line.reads & heavy
        else:
            needed = line.sets & (near.reads | near.sets)
            needed |= near.sets & line.reads if widen and near.movable else frozenset()
        if needed:
            places.append(other)
    return places


def _temporaries(lines: Sequence[Line], chosen: set[int], local: set[Symbol]) -> list[int]:
    """The variables of the iteration that only the slice reads; a mask is better written where it is used."""
    wanted = {symbol for place in chosen for symbol in lines[place].reads & local}
    staying = [line for place, line in enumerate(lines) if place not in chosen]
    used = {symbol for line in staying for symbol in line.reads}
    return [
        place
        for place, line in enumerate(lines)
        if place not in chosen
        and line.movable
        and line.sets <= wanted - used
        and not any(element_of(symbol.type) == BOOL for symbol in line.sets)
    ]


@dataclasses.dataclass(slots=True)
class Slice:
    """Statements of an iteration that move to the start of the next one."""

    lines: Sequence[Line]
    chosen: tuple[int, ...]
    iteration: Iteration
    local: frozenset[Symbol]  # declared in the iteration
    targets: frozenset[Symbol] = dataclasses.field(init=False)
    # Those of the chosen that are more than temporaries.
    loaded: frozenset[int] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.targets = frozenset().union(*(self.lines[place].sets for place in self.chosen))
        loaded: set[int] = set()
        for place in self.chosen:
            line = self.lines[place]
            assert line.value is not None
            fed = any(self.writer(symbol, place) in loaded for symbol in line.reads)
            if fed or has_load(line.value) or not line.sets <= self.local:
                loaded.add(place)
        self.loaded = frozenset(loaded)

    @property
    def staying(self) -> list[Line]:
        """The statements that stay."""
        return [line for place, line in enumerate(self.lines) if place not in self.chosen]

    def writer(self, symbol: Symbol, place: int) -> int | None:
        """The chosen statement that set a variable last before a place; None: it has its value from before."""
        writers = (at for at in reversed(self.chosen) if at < place and symbol in self.lines[at].sets)
        return next(writers, None)

    def source(self, symbol: Symbol, place: int) -> int | None:
        """The same, if it is more than a temporary."""
        at = self.writer(symbol, place)
        return at if at in self.loaded else None

    def plain(self, expr: Expr, place: int) -> bool:
        """Whether an expression does without loads and without what the slice computes from them."""
        return not has_memory(expr) and all(self.source(symbol, place) is None for symbol in names(expr))

    def recurrent(self) -> set[Symbol]:
        """The variables that the slice changes from iteration to iteration: it reads them before it sets them."""
        return {
            symbol
            for place in self.chosen
            for symbol in self.lines[place].reads & self.targets
            if self.writer(symbol, place) is None and symbol not in self.local
        }

    def exposed(self) -> set[Symbol]:
        """The variables that the next iteration reads as the slice left them."""
        exposed: set[Symbol] = set()
        lost: set[Symbol] = set(self.local)
        for line in self.staying:
            exposed |= (line.reads & self.targets) - lost
            if line.value is not None and line.guard is None:
                lost |= line.sets
        return exposed

    # ------------------------------------------------------------ values at the start of the next iteration

    def at_top(self, expr: Expr, place: int, *, eager: bool) -> Expr | None:
        """What an expression at a place is at the start of the next iteration, when the slice runs there.

        None if that is unknown. ``eager``: variables are followed to what they were computed from wherever
        that is possible, not only where it is needed. The temporaries of the slice stand for themselves.
        """
        change: dict[Symbol, Expr] = {}
        for symbol in names(expr):
            value = self._value(symbol, place, place, eager, 0)
            if value is None:
                return None
            change[symbol] = value
        expr = rebuild(rebuild(expr, change), self.iteration.known)
        if self.iteration.variable is not None and self.iteration.step is not None:
            expr = one_step_back(expr, self.iteration.variable, self.iteration.step)
        return expr

    def _value(self, symbol: Symbol, place: int, use: int, eager: bool, depth: int) -> Expr | None:
        """What a variable at a place is at the start of the next iteration, for the statement at ``use``."""
        at = next((p for p in range(place - 1, -1, -1) if symbol in self.lines[p].sets), None)
        own = at in self.chosen
        if (own and at not in self.loaded) or symbol is self.iteration.variable:
            return _name(symbol)
        known = self._available(symbol, place, use)
        if known and not (eager and at is not None and not own):
            return _name(symbol)
        value = self._followed(at, use, eager, depth) if at is not None and not own else None
        return value if value is not None or not known else _name(symbol)

    def _available(self, symbol: Symbol, place: int, use: int) -> bool:
        """Whether a variable still has its value of a place when ``use`` runs in the next iteration."""
        if symbol in self.local or symbol in assigned(self.iteration.between):
            return False
        return not any(
            symbol in line.sets and (at not in self.chosen or at < use)
            for at, line in enumerate(self.lines)
            if at >= place
        )

    def _followed(self, at: int, use: int, eager: bool, depth: int) -> Expr | None:
        """What the statement at a position set its variable to."""
        line = self.lines[at]
        value = line.value
        if value is None or has_memory(value) or depth == _MAX_DEPTH:
            return None
        change: dict[Symbol, Expr] = {}
        for symbol in names(value):
            replacement = self._value(symbol, at, use, eager, depth + 1)
            if replacement is None:
                return None
            change[symbol] = replacement
        value = rebuild(value, change)
        return None if larger_than(value, _MAX_NODES) else value


def _name(symbol: Symbol) -> Name:
    return Name(symbol.span, symbol.type, symbol)
