"""Undoes the prefetch idiom: moves loads to the top of the loop that uses them.

Old kernels load their operands before the loop and again at its end, as the old compiler required. Triton pipelines
a loop only if its loads are at the top, and the last of those loads is dead and may reach past the end of the
tensor. ``a = *pa; for (...) { use(a); pa += d; a = *pa; }`` becomes ``for (...) { a = *pa; use(a); pa += d; }``:
the statements that make the value for the next iteration (a ``Slice``, with the work that follows the load) run at
the start of that iteration instead, and also replace those before the loop. That is equivalent if

- the slice consists of assignments of whole variables at the end of an iteration, possibly under an ``if`` that
  holds in every iteration but the last; no later statement of the iteration reads or sets the same variables
  (slices.py);
- the loop's test and step do not read these variables, and nothing reads them after the loop;
- nothing between the old place of each load and the start of the iteration may write the memory that it reads;
- the statements before the loop compute the same, except for pointers and masks, which may differ (rotate.py);
- they can be removed: at least those of all variables that the slice advances (``pa += T``).

Loads are tried from the last to the first: each with all that belongs to it, then alone, its pointer carried to the
next iteration. A value that looks prefetched and cannot be moved causes a warning with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pytriton.errors import Report
from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.walk import bodies, inside, names, reads, walk, with_bodies
from pytriton.passes.analysis.affine import is_true, settle
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.liveness import Later, LiveBlock, exposed, remove_unread
from pytriton.passes.analysis.queries import Constants, constants, has_load, orders_memory
from pytriton.passes.loops.rotate import Differs, Match, Rotated, rotate
from pytriton.passes.loops.slices import History, Iteration, Line, Loop, Slice, Unmovable, grow, iteration_of
from pytriton.passes.memory.provenance import Provenance

_STAYS = "the load of {} stays one iteration ahead, and Triton does not pipeline the loop"
_ACTING = frozenset((typed.Atomic, typed.Call))
_MAX_LOADS = 64  # loads of one loop that are tried
_MAX_IFS = 8  # ifs of one loop that are examined
_MAX_STATEMENTS_BEFORE = 200  # statements before a loop that are examined


def prefetch(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """``a = *pa; loop { use(a); pa += d; a = *pa; }`` as ``loop { a = *pa; use(a); pa += d; }``.

    Warns (TC420) of a load that looks prefetched and stays.
    """
    undo = _Undo(Provenance(kernel), constants(kernel), context.report)
    body = undo.body(kernel.body, None)
    return remove_unread(kernel, replace(kernel, body=body)) if undo.changed else kernel


class _Stays(Exception):
    """The reason why a slice may not move."""

    def __init__(
        self, reason: str, at: typed.Statement | None = None, what: str = "", help: str | None = None
    ) -> None:
        self.reason, self.at, self.what, self.help = reason, at, what, help


@record
class _Place:
    """A loop and its surroundings. ``following``: new statements to put after it."""

    before: typed.Body
    loop: Loop
    later: typed.Body  # the statements that follow in its block
    after: Later
    declared: frozenset[typed.Symbol]  # in this block, before the loop
    following: typed.Body = ()

    def live(self, symbol: typed.Symbol) -> bool:
        """Whether the value of a variable may be read after the loop."""
        return self.after.in_block(symbol) if symbol in self.declared else symbol in self.after


class _Undo:
    def __init__(self, provenance: Provenance, constants: Constants, report: Report) -> None:
        self.provenance = provenance
        self.constants = constants
        self.report = report
        self.changed = False

    def body(self, body: typed.Body, outer: Later | None) -> typed.Body:
        """``outer``: what may be read after this body, or again in it."""
        block = LiveBlock(body, outer)
        result: list[typed.Statement] = []
        declared: set[typed.Symbol] = set()
        loads = False
        for position, statement in enumerate(body):
            if bodies(statement):
                later = block.within(position, statement)
                statement = with_bodies(statement, partial(self.body, outer=later))
            if isinstance(statement, Loop) and loads:
                near = tuple(result[-_MAX_STATEMENTS_BEFORE:])
                after = block.after(position)
                place = self._loop(_Place(near, statement, body[position + 1 :], after, frozenset(declared)))
                result[len(result) - len(near) :] = (*place.before, place.loop, *place.following)
                continue
            if isinstance(statement, typed.Declare):
                declared.add(statement.symbol)
            loads = loads or typed.Load in inside(statement).kinds
            result.append(statement)
        return tuple(result)

    def _loop(self, place: _Place) -> _Place:
        """Move every prefetch of one loop."""
        done: list[typed.Statement] = []  # kept alive, so that their ids stay unique
        iteration = iteration_of(place.loop, self.constants)
        lines = _lines(place.loop.body, iteration)
        for _ in range(_MAX_LOADS):
            start = _candidate(lines, done)
            if start is None:
                break
            done.append(lines[start].statement)
            rotated = self._attempt(place, lines, start, iteration)
            if rotated is not None:
                following = rotated.following + place.following
                place = replace(place, before=rotated.before, loop=rotated.loop, following=following)
                iteration = iteration_of(place.loop, self.constants)
                lines = _lines(place.loop.body, iteration)
                done += rotated.top
                self.changed = True
        self._warn_of_ifs(lines, place)
        return place

    def _attempt(
        self, place: _Place, lines: Sequence[Line], start: int, iteration: Iteration
    ) -> Rotated | None:
        """The loop with the load at a position moved; or a warning."""
        history = History(place.before + iteration.begin)
        part, stays = None, None
        for alone in (False, True):
            try:
                part = grow(lines, start, iteration, alone=alone)
                self._check(part, place)
                match = Match(part, history)
                self._check_first(match, place)
                removed = _removable(match, place)
                return rotate(match, place.before, place.loop, removed, place.live, place.later)
            except Unmovable:
                continue
            except Differs:
                stays = _Stays("the load before the loop computes something else")
            except _Stays as refusal:
                # Its traceback would keep this frame alive, and with it all analyses.
                stays = refusal.with_traceback(None)
        if part is not None and stays is not None:
            self._warn(part, stays, place, lines[start])
        return None

    def _check(self, part: Slice, place: _Place) -> None:
        """The conditions on the loop itself."""
        recurrent = part.recurrent()
        for symbol in sorted(part.targets - part.local, key=lambda symbol: symbol.span.start):
            if place.live(symbol):
                if symbol in recurrent:  # not a prefetch: `c += *pa` in a loop
                    raise Unmovable
                raise _Stays(f"'{symbol.name}' is read after the loop")
        for at in part.chosen:
            value = part.lines[at].value
            if value is not None and has_load(value):
                after = range(at + 1, len(part.lines))
                others = [part.lines[place].statement for place in after if place not in part.chosen]
                self._check_memory(value, (*others, *part.iteration.between))

    def _check_first(self, match: Match, place: _Place) -> None:
        """The statements before the loop must be able to run in the first iteration instead."""
        statements = match.history.body
        for at in match.used:
            value = statements[at].value  # type: ignore[union-attr]
            after = [statements[p] for p in range(at + 1, len(statements)) if p not in match.used]
            self._check_memory(value, tuple(after))
        if any(at >= len(place.before) for at in match.used):
            raise Differs

    def _check_memory(self, value: typed.Expr | None, after: typed.Body) -> None:
        """Raises if the statements may write memory that a value is loaded from."""
        loads = [node for node in walk(value) if isinstance(node, typed.Load)] if value is not None else []
        after = tuple([statement for statement in after if _may_act(statement)])
        for load in loads:
            # A pointer that this pass made has no roots yet; what is loaded may point anywhere.
            pointer = load.pointer if self.provenance.roots(load.pointer) else load
            for statement in after:
                if self.provenance.writes_to((statement,), pointer):
                    raise _writer(statement, self.provenance.only_root(pointer))

    def _warn(self, part: Slice, stays: _Stays, place: _Place, line: Line) -> None:
        """Warn with the reason why a value that was loaded before the loop and for the next iteration stays."""
        loaded = {
            symbol for symbol in part.exposed() - part.recurrent() if _loaded_before(symbol, place.before)
        }
        if not loaded:
            return
        spelled = " and ".join(sorted(f"'{symbol.name}'" for symbol in loaded))
        note = ((stays.what, stays.at.span),) if stays.at is not None else ()
        message = f"{_STAYS.format(spelled)}: {stays.reason}"
        self.report.warning("TC420", message, line.statement.span, *note, help=stays.help)

    def _warn_of_ifs(self, lines: Sequence[Line], place: _Place) -> None:
        """Warn of values that are prefetched under a condition that does not follow from the loop's."""
        wanted = exposed(place.loop.body)
        for line in lines:
            if not isinstance(line.statement, typed.If):
                continue
            for load in _loads_of(line.statement):
                if load.symbol in wanted and _loaded_before(load.symbol, place.before):
                    stays = _STAYS.format(f"'{load.symbol.name}'")
                    self.report.warning(
                        "TC420", f"{stays}: its 'if' may fail before the last iteration", load.span
                    )


def _lines(body: typed.Body, iteration: Iteration) -> list[Line]:
    """The statements of an iteration, with those under an ``if`` that holds unless it is the last one."""
    lines = [Line(statement) for statement in body]
    local = frozenset(statement.symbol for statement in body if isinstance(statement, typed.Declare))
    result: list[Line] = []
    looked = 0
    for place in range(len(lines) - 1, -1, -1):
        statement = lines[place].statement
        own = [lines[place]]
        if (
            isinstance(statement, typed.If)
            and looked < _MAX_IFS
            and next(_loads_of(statement), None) is not None
        ):
            looked += 1
            empty = Slice(lines, (), iteration, local)
            condition = empty.at_top(statement.condition, place, eager=True)
            if (
                condition is not None
                and is_true(settle(condition, iteration.facts))
                and not statement.otherwise
            ):
                own = [Line(typed.Evaluate(statement.span, statement.condition), statement)]
                own += [Line(inner, statement) for inner in statement.then]
        result += reversed(own)
    return result[::-1]


def _candidate(lines: Sequence[Line], done: Sequence[typed.Statement]) -> int | None:
    """The position of the last load that was not tried yet."""
    tried = set(map(id, done))
    for place in range(len(lines) - 1, -1, -1):
        line = lines[place]
        if (
            line.movable
            and id(line.statement) not in tried
            and line.value is not None
            and has_load(line.value)
        ):
            return place
    return None


def _removable(match: Match, place: _Place) -> set[int]:
    """The statements before the loop that can go if the slice runs in the first iteration; raises Differs."""
    statements = match.history.body
    again = reads(place.loop.body)
    removable: set[int] = set()
    for at in sorted(match.used, reverse=True):
        (symbol,) = inside(statements[at]).sets
        readers = (statements[p] for p in range(at + 1, len(statements)) if p not in removable)
        needed = any(symbol in inside(reader).reads for reader in readers)
        needed |= any(new.place > at and symbol in names(new.first) for new in match.carried)
        if symbol not in match.part.targets:
            needed |= symbol in again or place.live(symbol)
        if not needed:
            removable.add(at)
    if not match.gone <= removable:
        raise Differs
    return removable


def _loads_of(statement: typed.If) -> Iterator[typed.Assign | typed.Declare]:
    """The assignments of loaded values in the branches of an ``if``."""
    for inner in (*statement.then, *statement.otherwise):
        if (
            isinstance(inner, typed.Assign | typed.Declare)
            and inner.value is not None
            and has_load(inner.value)
        ):
            yield inner
        elif isinstance(inner, typed.If):
            yield from _loads_of(inner)


def _loaded_before(symbol: typed.Symbol, before: typed.Body) -> bool:
    """Whether the statement that sets a variable last before a loop loads something."""
    last = next((s for s in reversed(before) if symbol in inside(s).sets), None)
    return last is not None and typed.Load in last.kinds


def _may_act(statement: typed.Statement) -> bool:
    """Whether a statement has effects beside setting a variable."""
    return not isinstance(statement, typed.Declare | typed.Assign) or not _ACTING.isdisjoint(
        inside(statement).kinds
    )


def _writer(statement: typed.Statement, root: typed.Symbol | None) -> _Stays:
    """The refusal because of a statement that may write."""
    if orders_memory((statement,)):
        return _Stays("memory is ordered between the load and its use", statement, "here")
    where = f"'{root.name}'" if root is not None else "what is loaded"
    cure = "declare a parameter that overlaps no other __noalias"
    return _Stays(f"a store may change {where} between the load and its use", statement, "the store", cure)
