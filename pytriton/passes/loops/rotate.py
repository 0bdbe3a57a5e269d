"""Moves a slice to the start of the iteration, and removes the statements before the loop that it replaces.

Input: a slice of a loop's body (slices.py), which loads for the next iteration, and the statements before the loop,
which load for the first one. First ``Match`` pairs both: it checks that they compute the same, and finds the
expressions to write instead. Then ``rotate`` builds the new statements.

Output: the statements before the loop, with the carried variables and without what the first iteration now
computes; the loop with the slice at its top. A copy that only renamed a loaded value (``a = an``) is dropped, a
variable is declared where it is first set, and comments follow their statements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import BOOL, BlockType, PointerType, ScalarType, shape_of, with_element
from pytriton.lang.tree.walk import (
    assigned,
    children,
    inside,
    map_body,
    map_expressions,
    names,
    reads,
    rebuild,
    same,
    with_children,
)
from pytriton.passes.analysis.affine import equal, is_true, settle
from pytriton.passes.analysis.liveness import remark, remove
from pytriton.passes.analysis.queries import alike, larger_than, nodes
from pytriton.passes.loops.slices import History, Line, Loop, Slice

# ---------------------------------------------------------------- first iteration
# Whether the statements before a loop compute what a slice of its body does, and what to write instead of both.
#
# The slice moves to the start of the iteration (slices.py). In the first iteration it must compute what the
# statements before the loop did, so both are compared, from the values that the loop needs down to the loads.
# Expressions that do not read memory may differ:
#
# - if the slice's expression, as of the start of the next iteration, has the value of the other one when the loop
#   begins, it is used (``i < k - T`` of an iteration is ``i < k`` of the next, and ``i < K`` in the first);
# - a mask that holds whenever an iteration starts is dropped;
# - any other value is carried: a new variable is set before the loop and at the end of each iteration.
#
# Loads, and what is computed from them, must be written alike.


_MAX_NODES = 300  # nodes of an expression that is compared


class Differs(Exception):
    """The statements before the loop do not compute what the slice does."""


@record
class RotatedVariable:
    """A new variable: its values before the loop and in an iteration, and the positions of these assignments."""

    symbol: typed.Symbol
    first: typed.Expr
    place: int
    again: typed.Expr
    position: int


class Match:
    """Pairs a slice with the statements before its loop; ``values`` are its expressions for the next iteration.

    ``used`` are the positions of the statements that it was paired with. Raises Differs.
    """

    def __init__(self, part: Slice, history: History) -> None:
        self.part = part
        self.history = history
        self.values: dict[int, typed.Expr] = {}
        self.used: set[int] = set()
        self.carried: list[RotatedVariable] = []
        self._inlined: dict[int, typed.Expr | None] = {}
        self._sources: dict[int, tuple[typed.Expr, int]] = {}
        self._recurrent = part.recurrent()
        self._facts = part.iteration.facts
        self._temporaries()
        exposed = part.exposed() | self._recurrent
        last_writers = {history.writer(symbol, history.end) for symbol in self._recurrent}
        self._advances = {place for place in last_writers if place is not None}
        for symbol in sorted(exposed, key=lambda symbol: symbol.span.start):
            last = part.writer(symbol, len(part.lines))
            assert last is not None
            self._define(last, typed.Name(symbol.span, symbol.type, symbol), history.end)
        if len(self.values) < len(part.chosen):  # some statement is not needed
            raise Differs

    @cached_property
    def _facts_first(self) -> list[typed.Expr]:
        """The facts as they are in the first iteration."""
        return [self.history.expand(fact, self.history.end) for fact in self._facts]

    @property
    def gone(self) -> set[int]:
        """The statements before the loop that may not run, as the slice runs in the first iteration too."""
        recurrent = {place for place in self.used if inside(self.history.body[place]).sets & self._recurrent}
        return recurrent | self._advances

    # ------------------------------------------------------------ loads and their uses

    def _define(self, at: int, first: typed.Expr, place: int) -> None:
        """Pair a statement of the slice with an expression before the loop."""
        if isinstance(first, typed.Name):  # only the assignment that it reads matters
            writer = self.history.writer(first.symbol, place)
            place = 0 if writer is None else writer + 1
        source = self._sources.setdefault(at, (first, place))
        if source[0] is not first and not (source[1] == place and same(source[0], first)):
            raise Differs
        value = self.part.lines[at].value
        assert value is not None
        if at not in self.values:
            if isinstance(first, typed.Name) and self.part.plain(value, at):
                first, place = self._resolved(first, place)
            self.values[at] = value  # ends a cycle
            self.values[at] = self._pair(value, at, first, place)

    def _resolved(self, name: typed.Name, place: int) -> tuple[typed.Expr, int]:
        origin = self.history.value(name.symbol, place)
        if origin is None:
            raise Differs
        self.used.add(origin[1])
        return origin

    def _pair(self, expr: typed.Expr, at: int, first: typed.Expr, place: int) -> typed.Expr:
        """The new expression for one of the slice, paired with one before the loop."""
        if isinstance(expr, typed.Name):
            source = self.part.source(expr.symbol, at)
            if source is not None:
                self._define(source, first, place)
                return expr
        if self.part.plain(expr, at):
            return self._leaf(expr, at, first, place)
        if isinstance(first, typed.Name):
            return self._pair(expr, at, *self._resolved(first, place))
        if isinstance(expr, typed.Load):
            return self._load(expr, at, first, place)
        if isinstance(expr, typed.Select) and self._holds(expr.condition, at) and expr.yes.type == expr.type:
            return self._pair(expr.yes, at, first, place)
        if not alike(expr, first):
            raise Differs
        firsts: Iterator[typed.Expr] = iter(list(children(first)))
        return with_children(expr, lambda operand: self._pair(operand, at, next(firsts), place))

    def _load(self, load: typed.Load, at: int, first: typed.Expr, place: int) -> typed.Load:
        if not isinstance(first, typed.Load) or load.type != first.type:
            raise Differs
        pointer = self._pair(load.pointer, at, first.pointer, place)
        mask = self._mask(load, at, first, place)
        other = None if mask is None else self._other(load, at, first, place)
        return typed.Load(load.span, load.type, pointer, mask, other)

    def _other(self, load: typed.Load, at: int, first: typed.Load, place: int) -> typed.Expr | None:
        """The value of a load where its mask is false; if only one load has a mask, from that one."""
        if load.mask is not None and first.mask is not None:
            if load.other is None or first.other is None:
                raise Differs
            return self._pair(load.other, at, first.other, place)
        other = load.other or first.other
        if other is None or constant(other) is None:
            raise Differs
        return other

    def _mask(self, load: typed.Load, at: int, first: typed.Load, place: int) -> typed.Expr | None:
        if load.mask is None and first.mask is None:
            return None
        always = typed.Literal(load.span, BOOL, 1)
        mask, earlier = load.mask or always, first.mask or always
        if not self.part.plain(mask, at):
            return self._pair(mask, at, earlier, place)
        now = self._now(mask, at, earlier, place)
        if now is None:
            if mask.type != earlier.type:
                mask, earlier = (_of_shape(part, shape_of(load.type)) for part in (mask, earlier))
            now = self._carry(mask, at, earlier, place, "mask")
        return None if is_true(now) else now

    # ------------------------------------------------------------ expressions without loads

    def _leaf(self, expr: typed.Expr, at: int, first: typed.Expr, place: int) -> typed.Expr:
        now = self._now(expr, at, first, place)
        if now is not None:
            return now
        if expr.type != first.type:
            raise Differs
        return self._carry(expr, at, first, place, "pointer" if _points(expr) else "value")

    def _now(self, expr: typed.Expr, at: int, first: typed.Expr, place: int) -> typed.Expr | None:
        """The expression at the start of the next iteration, if in the first one it equals that before the loop."""
        for eager in (False, True):
            now = self.part.at_top(expr, at, eager=eager)
            if now is None:
                continue
            now = settle(now, self._facts)
            inlined = self._inline(now, at)
            if inlined is None:
                continue
            inlined = settle(inlined, self._facts)
            if self._stays(inlined, first, place):
                return now
            wanted = settle(self.history.expand(first, place), self._facts_first)
            entry = self.history.expand(inlined, self.history.end, self.gone)
            entry = settle(entry, self._facts_first)
            if equal(entry, wanted) or (is_true(entry) and is_true(wanted)):
                return inlined if is_true(inlined) else now
        return None

    def _stays(self, expr: typed.Expr, first: typed.Expr, place: int) -> bool:
        """Whether both are the same variable, not set between the place and the loop."""
        if not (
            isinstance(expr, typed.Name) and isinstance(first, typed.Name) and expr.symbol is first.symbol
        ):
            return False
        writer = self.history.writer
        return writer(first.symbol, place) == writer(first.symbol, self.history.end, self.gone)

    def _inline(self, expr: typed.Expr, at: int) -> typed.Expr | None:
        """The expression with the slice's temporaries replaced by their values; None if that is too large."""
        change: dict[typed.Symbol, typed.Expr] = {}
        for symbol in names(expr):
            source = self.part.writer(symbol, at)
            if source is not None and source not in self.part.loaded:
                value = self._inlined[source]
                if value is None:
                    return None
                change[symbol] = value
        inlined = rebuild(expr, change) if change else expr
        return None if larger_than(inlined, _MAX_NODES) else inlined

    def _holds(self, condition: typed.Expr, at: int) -> bool:
        """Whether a condition of the slice holds unless the iteration is the last."""
        if not self.part.plain(condition, at):
            return False
        now = self.part.at_top(condition, at, eager=True)
        return now is not None and is_true(settle(now, self._facts))

    def _carry(self, expr: typed.Expr, at: int, first: typed.Expr, place: int, role: str) -> typed.Name:
        for carried in self.carried:
            if carried.position == at and carried.again is expr:
                if carried.place != place or not same(carried.first, first):
                    raise Differs
                return typed.Name(expr.span, carried.symbol.type, carried.symbol)
        if names(expr) & self.part.targets or place >= self.history.end:
            raise Differs
        type_ = expr.type
        assert isinstance(type_, ScalarType | PointerType | BlockType)
        (target,) = self.part.lines[at].sets
        symbol = typed.Symbol(f"{target.name}_{role}", type_, expr.span)
        self.carried.append(RotatedVariable(symbol, first, place, expr, at))
        return typed.Name(expr.span, type_, symbol)

    def _temporaries(self) -> None:
        """The values of temporaries of the slice, which have no counterpart before the loop."""
        for at in self.part.chosen:
            value = self.part.lines[at].value
            if at in self.part.loaded or value is None:
                continue
            now = self.part.at_top(value, at, eager=False)
            if now is None:
                raise Differs
            self.values[at] = settle(now, self._facts)
            self._inlined[at] = self._inline(self.values[at], at)


def _points(expr: typed.Expr) -> bool:
    element = expr.type.element if isinstance(expr.type, BlockType) else expr.type
    return isinstance(element, PointerType)


def _of_shape(mask: typed.Expr, shape: tuple[int, ...]) -> typed.Expr:
    return (
        mask if shape_of(mask.type) == shape else typed.Broadcast(mask.span, with_element(BOOL, shape), mask)
    )


Made = typed.Declare | typed.Assign


@record
class Rotated:
    """The statements before a loop, the loop, the new statements at its top, and declarations to put after it."""

    before: typed.Body
    loop: Loop
    top: Sequence[typed.Statement]
    following: typed.Body


def rotate(
    match: Match,
    before: typed.Body,
    loop: Loop,
    removed: Collection[int],
    live: Callable[[typed.Symbol], bool],
    later: typed.Body,
) -> Rotated:
    """The loop with the slice at its top.

    ``removed``: positions before the loop; ``live``: whether a variable is read after the loop; ``later``: the
    statements after it, which may use a variable of the slice for something else.
    """
    staying = [statement for place, statement in enumerate(before) if place not in removed]
    bare = any(isinstance(statement, typed.Declare) and statement.value is None for statement in staying)
    used_before = _mentioned(staying) if bare else set()
    homeless = {
        statement.symbol
        for place, statement in enumerate(before)
        if isinstance(statement, typed.Declare)
        and statement.symbol in match.part.targets
        and (place in removed or (statement.value is None and statement.symbol not in used_before))
    }
    top = _top(match, before, removed, homeless)
    remaining = _rest(match, live)
    head = _head(match, before, removed, homeless)
    if match.carried:
        used = _mentioned((*top, *remaining, *match.part.iteration.begin)) | assigned(later)
        head = _without_detours(head, match, used, live)
    loop = replace(loop, body=(*top, *remaining))
    read = reads((*head, loop))
    unread = {statement.symbol for statement in head if isinstance(statement, typed.Declare)} - read
    unread = {symbol for symbol in unread if not live(symbol)}
    freed = unread & reads(tuple(before[place] for place in removed))
    if freed:
        head, top = _handed_down(head, top, unread, freed)
        loop = replace(loop, body=(*top, *remaining))
    shared = {
        symbol: typed.Symbol(symbol.name, symbol.type, symbol.span) for symbol in homeless & assigned(later)
    }
    if shared:
        body = _renamed(loop.body, shared)
        loop, top = replace(loop, body=body), list(body[: len(top)])
    following = tuple(
        typed.Declare(symbol.span, symbol, None) for symbol in sorted(shared, key=lambda s: s.span.start)
    )
    return Rotated(head, loop, top, following)


def _handed_down(
    head: typed.Body,
    top: list[typed.Statement],
    unread: Collection[typed.Symbol],
    freed: Collection[typed.Symbol],
) -> tuple[typed.Body, list[typed.Statement]]:
    """Moves the comment above a mask or a pointer that only the moved loads read to these.

    Unless the next line stays: the comment may head that, too (see ``liveness.remove``). ``unread``: variables that
    will be removed; ``freed``: those that this move has made dead.
    """
    staying_lines = {
        statement.span.line
        for statement in head
        if not (isinstance(statement, typed.Declare) and statement.symbol in unread)
    }
    result: list[typed.Statement] = []
    for statement in head:
        freed_here = isinstance(statement, typed.Declare) and statement.symbol in freed
        if (
            freed_here
            and statement.comments.above
            and not top[0].comments.above
            and statement.span.last_line + 1 not in staying_lines
        ):
            top = [
                replace(top[0], comments=replace(top[0].comments, above=statement.comments.above)),
                *top[1:],
            ]
            statement = replace(statement, comments=replace(statement.comments, above=()))
        result.append(statement)
    return tuple(result), top


def _mentioned(statements: Iterable[typed.Statement]) -> set[typed.Symbol]:
    """The variables that statements read or set, other than by declaring them."""
    bare = tuple([s for s in statements if not (isinstance(s, typed.Declare) and s.value is None)])
    return reads(bare) | assigned(bare)


def _renamed(body: typed.Body, change: dict[typed.Symbol, typed.Symbol]) -> typed.Body:
    """The statements with other variables."""
    names = {old: typed.Name(new.span, new.type, new) for old, new in change.items()}

    def target(statement: typed.Statement) -> typed.Statement:
        if isinstance(statement, typed.Declare | typed.Assign) and statement.symbol in change:
            return replace(statement, symbol=change[statement.symbol])
        return statement

    return map_body(map_expressions(body, lambda expr: rebuild(expr, {**names})), target)


def _without_detours(
    body: Sequence[typed.Statement],
    match: Match,
    used: Collection[typed.Symbol],
    live: Callable[[typed.Symbol], bool],
) -> typed.Body:
    """``check = r < n; mask = check`` as ``mask = r < n`` for a carried variable, if ``check`` has no other use."""
    carried = {new.symbol for new in match.carried}
    result = list(body)
    if not carried:
        return tuple(result)
    for copy in body:
        if not (isinstance(copy, Made) and copy.symbol in carried and isinstance(copy.value, typed.Name)):
            continue
        source = copy.value.symbol
        makers = [statement for statement in result if source in inside(statement).sets]
        readers = [statement for statement in result if source in inside(statement).reads]
        if len(makers) != 1 or len(readers) != 1 or source in used or source.parameter or live(source):
            continue
        origin = makers[0]
        if (
            isinstance(origin, typed.Declare)
            and origin.value is not None
            and result.index(origin) < result.index(copy)
        ):
            named = type(copy)(
                origin.span, copy.symbol, origin.value, _joined(origin.comments, copy.comments)
            )
            result = [
                named if statement is origin else statement for statement in result if statement is not copy
            ]
    return tuple(result)


def _head(
    match: Match, before: typed.Body, removed: Collection[int], homeless: Collection[typed.Symbol]
) -> typed.Body:
    """The statements before the loop with the new variables, without what the first iteration computes."""
    result: list[typed.Statement] = []
    gone: list[typed.Statement] = []
    for place, statement in enumerate(before):
        result += [
            typed.Declare(new.first.span, new.symbol, new.first)
            for new in match.carried
            if new.place == place
        ]
        if place in removed or (isinstance(statement, typed.Declare) and statement.symbol in homeless):
            if isinstance(statement, typed.Declare | typed.Assign) and statement.symbol in match.part.targets:
                statement = replace(statement, comments=typed.Comments())  # they move with it
            gone.append(statement)
        result.append(statement)
    leaving = set(map(id, gone))
    return remove(tuple(result), lambda statement: id(statement) in leaving)


# ---------------------------------------------------------------- the start of the iteration


def _top(
    match: Match, before: typed.Body, removed: Collection[int], homeless: Collection[typed.Symbol]
) -> list[typed.Statement]:
    """The slice as it runs at the start of an iteration."""
    earlier: dict[typed.Symbol, list[Made]] = {}
    for place, statement in enumerate(before):
        if isinstance(statement, typed.Declare | typed.Assign) and (
            place in removed or statement.symbol in homeless
        ):
            earlier.setdefault(statement.symbol, []).append(statement)
    result: list[Made] = []
    for place in match.part.chosen:
        statement = match.part.lines[place].statement
        assert isinstance(statement, typed.Declare | typed.Assign)
        comments, symbol, value = statement.comments, statement.symbol, match.values[place]
        first = symbol in earlier
        for early in reversed(earlier.pop(symbol, [])):
            comments = _joined(early.comments, comments)
        if isinstance(statement, typed.Declare) or (first and symbol in homeless):
            result.append(typed.Declare(statement.span, symbol, value, comments))
        else:
            result.append(typed.Assign(statement.span, symbol, value, comments))
    return [*_without_copies(result, match)]


def _without_copies(top: list[Made], match: Match) -> list[Made]:
    """``an = *pa; a = an`` as ``a = *pa``, where nothing else reads ``an``."""
    others = {symbol for line in match.part.staying for symbol in line.reads}
    for copy in list(top):
        source = copy.value.symbol if isinstance(copy.value, typed.Name) else None
        earlier = reversed(top[: top.index(copy)])
        original = next((statement for statement in earlier if statement.symbol is source), None)
        if original is None or source in others:
            continue
        if sum(source in inside(statement).reads for statement in top) != 1:
            continue
        between = top[top.index(original) + 1 : top.index(copy)]
        if any(copy.symbol is setter.symbol or copy.symbol in reads((setter,)) for setter in between):
            continue
        assert original.value is not None
        comments = _joined(original.comments, copy.comments)
        renamed = type(copy)(original.span, copy.symbol, original.value, comments)
        top = [renamed if statement is original else statement for statement in top if statement is not copy]
    return top


# ---------------------------------------------------------------- the rest of the iteration


def _rest(match: Match, live: Callable[[typed.Symbol], bool]) -> typed.Body:
    """The remaining statements of the iteration, also inside an ``if`` that parts of the slice were in."""
    result: list[typed.Statement] = []
    guard: typed.If | None = None
    left: list[typed.Statement] = []
    lines = match.part.lines
    for place, line in enumerate(lines):
        if guard is not None and line.guard is not guard:
            result += _if(guard, left, match, lines[place:], live)
        if line.guard is not None and line.guard is not guard:  # its condition, the first of its lines
            guard, left = line.guard, []
            continue
        guard = line.guard
        target = result if guard is None else left
        for new in match.carried:
            if new.position == place:
                target.append(typed.Assign(new.again.span, new.symbol, new.again))
        if place not in match.part.chosen:
            target.append(line.statement)
    if guard is not None:
        result += _if(guard, left, match, (), live)
    return _without_detours(result, match, reads(match.part.iteration.between), lambda symbol: False)


def _if(
    statement: typed.If,
    left: Sequence[typed.Statement],
    match: Match,
    following: Sequence[Line],
    live: Callable[[typed.Symbol], bool],
) -> list[typed.Statement]:
    """The rest of an ``if`` that fails in the last iteration only, without the ``if`` where it may run there."""
    if len(left) == len(statement.then) and all(map(operator.is_, left, statement.then)):
        return [statement]
    condition = typed.Evaluate(statement.span, statement.condition)
    read = {symbol for line in following for symbol in line.reads} | reads(match.part.iteration.between)
    statements = [inner for inner in left if not isinstance(inner, typed.Remark)]
    if all(_harmless(inner) for inner in statements) and not any(
        s in read or live(s) for s in assigned(tuple(statements))
    ):
        return [*remark(replace(condition, comments=statement.comments)), *left]
    return [replace(statement, then=tuple(left))]


def _harmless(statement: typed.Statement) -> bool:
    """Whether a statement may run once more: it neither loads nor divides."""
    if not isinstance(statement, typed.Declare | typed.Assign):
        return False
    divides = any(operation.operator in ("/", "%") for operation in nodes((statement,), typed.Binary))
    return not divides and typed.Load not in inside(statement).kinds


def _joined(first: typed.Comments, second: typed.Comments) -> typed.Comments:
    """Both comments, without duplicates."""
    above = first.above + tuple(text for text in second.above if text not in first.above)
    beside = second.beside + tuple(text for text in first.beside if text not in second.beside)
    return typed.Comments(above, beside)
