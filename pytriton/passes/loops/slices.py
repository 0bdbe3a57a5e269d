"""The statements at the end of a loop's body that make a value for the next iteration: a prefetch.

A ``Slice`` is a set of assignments that can run at the start of the next iteration instead, in the same order,
without effect on other statements: it includes all later statements of the body that read or set the same
variables. Unless it is a load ``alone``, a slice also includes what changes an operand after its use (``a = *pa; pa
+= T``) and the variables of the iteration that nothing else reads, so that the moved statements look as they did.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence

from pytriton.frozen import record
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import BOOL, INT, LONG, element_of
from pytriton.lang.tree.walk import assigned, expressions, has_memory, inside, names, reads, rebuild
from pytriton.passes.analysis.affine import advance, one_step_back
from pytriton.passes.analysis.queries import Constants, has_load, larger_than

# ---------------------------------------------------------------- iteration
# The code between the end of one iteration of a loop and the start of the next, for all kinds of loops.
#
# ``begin`` runs before the first iteration, ``between`` before every other one, and the ``facts`` hold whenever an
# iteration starts. A variable that ``between`` advances by a constant step has a known value at the end of the
# iteration before: its own, less the step.


Loop = typed.RangeLoop | typed.For | typed.While


@record
class Iteration:
    """The surroundings of an iteration. ``variable`` is constant in the body, ``constants`` are always constant."""

    constants: Constants
    begin: typed.Body
    between: typed.Body
    facts: tuple[typed.Expr, ...]
    variable: typed.Symbol | None = None
    step: typed.Expr | None = None


def iteration_of(loop: Loop, constants: Constants) -> Iteration:
    """The iteration of a loop."""
    match loop:
        case typed.RangeLoop(span=span, symbol=symbol, start=start, stop=stop, step=step):
            name = typed.Name(span, symbol.type, symbol)
            follows = "<" if (constant(step) or 0) > 0 else ">"
            begin = typed.Evaluate(span, stop), typed.Evaluate(span, step), typed.Assign(span, symbol, start)
            again = typed.Assign(span, symbol, typed.Binary(span, symbol.type, "+", name, step))
            return Iteration(
                constants,
                begin,
                (again,),
                (typed.Binary(span, BOOL, follows, name, rebuild(stop, constants)),),
                symbol,
                step,
            )
        case typed.While(condition=condition):
            return _conditional(constants, condition, (), (), loop.body)
        case typed.For(init=init, condition=maybe, step=advance):
            return _conditional(constants, maybe, init, advance, loop.body)


def _conditional(
    constants: Constants, condition: typed.Expr | None, init: typed.Body, step: typed.Body, body: typed.Body
) -> Iteration:
    test: tuple[typed.Statement, ...] = (
        () if condition is None else (typed.Evaluate(condition.span, condition),)
    )
    facts = () if condition is None else tuple(rebuild(part, constants) for part in _conjuncts(condition))
    variable = _counter(step[0], constants) if len(step) == 1 else None
    if variable is None or variable[0] in assigned(body):
        return Iteration(constants, init + test, step + test, facts)
    return Iteration(constants, init + test, step + test, facts, *variable)


def _conjuncts(condition: typed.Expr) -> list[typed.Expr]:
    """The conjuncts, without those that read memory, which may change."""
    if isinstance(condition, typed.Binary) and condition.operator == "&&":
        return _conjuncts(condition.left) + _conjuncts(condition.right)
    return [] if has_memory(condition) else [condition]


def _counter(step: typed.Statement, constants: Constants) -> tuple[typed.Symbol, typed.Expr] | None:
    """The variable and the amount of ``k = k + amount``, of a constant amount."""
    if not isinstance(step, typed.Assign) or step.symbol.type not in (INT, LONG):
        return None
    amount = advance(step.symbol, step.value, constants)
    return None if amount is None else (step.symbol, amount)


# ---------------------------------------------------------------- reaching
# The reaching definitions of variables in straight-line code, and their values.
#
# ``expand`` replaces every variable of an expression by what it was computed from, as far as that does not read
# memory. Two expressions of different places are equal if their expansions are: a variable that cannot be replaced
# gets a new name for each assignment, so that different values have different names.


_MAX_DEPTH = 24  # assignments that are followed
_MAX_NODES = 100  # nodes of a value that replaces its variable


class History:
    """The assignments of a sequence of statements. A place is the position of a statement, before it runs."""

    def __init__(self, body: typed.Body) -> None:
        self.body = body
        self._writers = writers = dict[typed.Symbol, list[int]]()
        for position, statement in enumerate(body):
            cls = statement.__class__
            if cls is typed.Declare or cls is typed.Assign:  # nearly all
                writers.setdefault(statement.symbol, []).append(position)  # type: ignore[union-attr]
            else:
                for symbol in inside(statement).sets:
                    writers.setdefault(symbol, []).append(position)
        self._expansions: dict[tuple[typed.Symbol, int], typed.Expr] = {}

    @property
    def end(self) -> int:
        """The place after the last statement."""
        return len(self.body)

    def writer(self, symbol: typed.Symbol, place: int, without: Collection[int] = ()) -> int | None:
        """The last statement before a place that may set a variable, as if those ``without`` were not there."""
        writers = (at for at in reversed(self._writers.get(symbol, ())) if at < place and at not in without)
        return next(writers, None)

    def value(self, symbol: typed.Symbol, place: int) -> tuple[typed.Expr, int] | None:
        """The expression that a variable was set to last, and where; None if that is not one assignment."""
        at = self.writer(symbol, place)
        if at is None:
            return None
        statement = self.body[at]
        if not isinstance(statement, typed.Declare | typed.Assign) or statement.value is None:
            return None
        return statement.value, at

    def expand(
        self, expr: typed.Expr, place: int, without: Collection[int] = (), depth: int = 0
    ) -> typed.Expr:
        """The expression at a place, in terms of what the statements started from."""
        change: dict[typed.Symbol, typed.Expr] = {}
        for symbol in names(expr):
            at = self.writer(symbol, place, without)
            if at is not None:
                change[symbol] = self._expanded(symbol, at, depth)
        return rebuild(expr, change) if change else expr

    def _expanded(self, symbol: typed.Symbol, at: int, depth: int) -> typed.Expr:
        """What the statement at a position sets a variable to."""
        expanded = self._expansions.get((symbol, at))
        if expanded is not None:
            return expanded
        statement = self.body[at]
        value: typed.Expr | None = None
        simple = isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None
        if simple and depth < _MAX_DEPTH and not has_memory(statement.value):  # type: ignore[union-attr,arg-type]
            value = self.expand(statement.value, at, (), depth + 1)  # type: ignore[union-attr,arg-type]
        if value is None or larger_than(value, _MAX_NODES):
            value = typed.Name(
                statement.span, symbol.type, typed.Symbol(symbol.name, symbol.type, symbol.span)
            )
        self._expansions[symbol, at] = value
        return value


_MAX_STATEMENTS = 64  # statements of a slice
_MAX_DEPTH_OF_SLICES = 24  # variables of an iteration that are followed
_MAX_NODES_OF_SLICES = 100  # nodes of a value that replaces its variable


class Unmovable(Exception):
    """The statements cannot run in the next iteration, as some statement of this one needs them."""


@dataclasses.dataclass(slots=True, eq=False)
class Line:
    """One statement of an iteration. ``guard``: the ``if`` around it, which fails in the last one only."""

    statement: typed.Statement
    guard: typed.If | None = None
    reads: frozenset[typed.Symbol] = dataclasses.field(init=False)
    sets: frozenset[typed.Symbol] = dataclasses.field(init=False)
    movable: bool = dataclasses.field(init=False)  # it only computes the value of one variable

    def __post_init__(self) -> None:
        effects = inside(self.statement)
        self.reads, self.sets = effects.reads, effects.sets
        self.movable = self.value is not None and typed.Atomic not in effects.kinds

    @property
    def value(self) -> typed.Expr | None:
        """The value of an assignment."""
        return self.statement.value if isinstance(self.statement, typed.Declare | typed.Assign) else None


def grow(lines: Sequence[Line], start: int, iteration: Iteration, *, alone: bool) -> Slice:
    """The slice of the load at a position; raises Unmovable."""
    chosen = {start}
    local = {line.statement.symbol for line in lines if isinstance(line.statement, typed.Declare)}
    heavy = set() if alone else _heavy(lines, local)
    pending = [start]
    while pending:
        place = pending.pop()
        for other in _needed(lines, place, chosen, heavy, alone):
            if not lines[other].movable or len(chosen) == _MAX_STATEMENTS:
                raise Unmovable
            chosen.add(other)
            pending.append(other)
        if not pending and not alone and len(chosen) < _MAX_STATEMENTS:
            pending += _temporaries(lines, chosen, local)
            chosen.update(pending)
    grown = Slice(lines, tuple(sorted(chosen)), iteration, frozenset(local))
    if grown.targets & reads(iteration.between):
        raise Unmovable
    return grown


def _heavy(lines: Sequence[Line], local: set[typed.Symbol]) -> set[typed.Symbol]:
    """The variables of the iteration that are computed from memory."""
    computed: set[typed.Symbol] = set()
    for line in lines:
        if line.reads & computed or any(map(has_memory, expressions((line.statement,)))):
            computed |= line.sets & local
    return computed


def _needed(
    lines: Sequence[Line], place: int, chosen: set[int], heavy: set[typed.Symbol], alone: bool
) -> list[int]:
    """The positions of statements that must move along with one."""
    line = lines[place]
    places = []
    for other, near in enumerate(lines):
        if other in chosen:
            continue
        if other < place:
            needed = near.sets & line.reads & heavy
        else:
            needed = line.sets & (near.reads | near.sets)
            needed |= near.sets & line.reads if near.movable and not alone else frozenset()
        if needed:
            places.append(other)
    return places


def _temporaries(lines: Sequence[Line], chosen: set[int], local: set[typed.Symbol]) -> list[int]:
    """The variables of the iteration that only the slice reads, except masks, which are inlined."""
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
    local: frozenset[typed.Symbol]  # declared in the iteration
    targets: frozenset[typed.Symbol] = dataclasses.field(init=False)
    # those of the chosen that are not temporaries
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

    def writer(self, symbol: typed.Symbol, place: int) -> int | None:
        """The chosen statement that set a variable last before a place; None: it has its value from before."""
        writers = (at for at in reversed(self.chosen) if at < place and symbol in self.lines[at].sets)
        return next(writers, None)

    def source(self, symbol: typed.Symbol, place: int) -> int | None:
        """The same, if it is not a temporary."""
        at = self.writer(symbol, place)
        return at if at in self.loaded else None

    def plain(self, expr: typed.Expr, place: int) -> bool:
        """Whether an expression reads no memory and nothing that the slice computes from loads."""
        return not has_memory(expr) and all(self.source(symbol, place) is None for symbol in names(expr))

    def recurrent(self) -> set[typed.Symbol]:
        """The variables that the slice updates: it reads them before it sets them."""
        return {
            symbol
            for place in self.chosen
            for symbol in self.lines[place].reads & self.targets
            if self.writer(symbol, place) is None and symbol not in self.local
        }

    def exposed(self) -> set[typed.Symbol]:
        """The variables that the next iteration reads as the slice left them."""
        exposed: set[typed.Symbol] = set()
        lost: set[typed.Symbol] = set(self.local)
        for line in self.staying:
            exposed |= (line.reads & self.targets) - lost
            if line.value is not None and line.guard is None:
                lost |= line.sets
        return exposed

    # ------------------------------------------------------------ values at the start of the next iteration

    def at_top(self, expr: typed.Expr, place: int, *, eager: bool) -> typed.Expr | None:
        """The value of an expression at a place in terms of the start of the next iteration, where the slice runs.

        None if unknown. ``eager``: variables are replaced by what they were computed from wherever possible, not
        only where necessary. The temporaries of the slice stay.
        """
        change: dict[typed.Symbol, typed.Expr] = {}
        for symbol in names(expr):
            value = self._value(symbol, place, place, eager, 0)
            if value is None:
                return None
            change[symbol] = value
        expr = rebuild(rebuild(expr, change), self.iteration.constants)
        if self.iteration.variable is not None and self.iteration.step is not None:
            expr = one_step_back(expr, self.iteration.variable, self.iteration.step)
        return expr

    def _value(
        self, symbol: typed.Symbol, place: int, use: int, eager: bool, depth: int
    ) -> typed.Expr | None:
        """The same of a variable, for the statement at ``use``."""
        at = next((p for p in range(place - 1, -1, -1) if symbol in self.lines[p].sets), None)
        own = at in self.chosen
        if (own and at not in self.loaded) or symbol is self.iteration.variable:
            return _name(symbol)
        available = self._available(symbol, place, use)
        if available and not (eager and at is not None and not own):
            return _name(symbol)
        value = self._followed(at, use, eager, depth) if at is not None and not own else None
        return value if value is not None or not available else _name(symbol)

    def _available(self, symbol: typed.Symbol, place: int, use: int) -> bool:
        """Whether a variable still has its value of a place when ``use`` runs in the next iteration."""
        if symbol in self.local or symbol in assigned(self.iteration.between):
            return False
        return not any(
            symbol in line.sets and (at not in self.chosen or at < use)
            for at, line in enumerate(self.lines)
            if at >= place
        )

    def _followed(self, at: int, use: int, eager: bool, depth: int) -> typed.Expr | None:
        """The same of the value that the statement at a position assigned."""
        line = self.lines[at]
        value = line.value
        if value is None or has_memory(value) or depth == _MAX_DEPTH_OF_SLICES:
            return None
        change: dict[typed.Symbol, typed.Expr] = {}
        for symbol in names(value):
            replacement = self._value(symbol, at, use, eager, depth + 1)
            if replacement is None:
                return None
            change[symbol] = replacement
        value = rebuild(value, change)
        return None if larger_than(value, _MAX_NODES_OF_SLICES) else value


def _name(symbol: typed.Symbol) -> typed.Name:
    return typed.Name(symbol.span, symbol.type, symbol)
