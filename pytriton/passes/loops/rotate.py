"""Puts a slice at the start of the iteration, and takes what it replaces from before the loop.

Output: the statements before the loop, with the carried variables and without what the first iteration now
computes; the loop with the slice at its top. A copy that only renamed what was loaded (``a = an``) is gone, a
variable is declared where it is first set, and comments follow their statements.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Sequence

from pytriton.frozen import dataclass, replace
from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Body,
    Comments,
    Declare,
    Evaluate,
    If,
    Load,
    Name,
    Remark,
    Statement,
    Symbol,
)
from pytriton.lang.tree.walk import (
    assigned,
    inside,
    map_body,
    map_expressions,
    reads,
    rebuild,
)
from pytriton.passes.analysis.dead import remark, remove
from pytriton.passes.analysis.queries import nodes
from pytriton.passes.loops.first_iteration import Match
from pytriton.passes.loops.iteration import Loop
from pytriton.passes.loops.slices import Line

__all__ = ["Rotated", "rotate"]

Made = Declare | Assign


@dataclass(frozen=True, slots=True)
class Rotated:
    """The statements before a loop, the loop, what it now starts with, and declarations to put after it."""

    before: Body
    loop: Loop
    top: Sequence[Statement]
    following: Body


def rotate(
    match: Match,
    before: Body,
    loop: Loop,
    removed: Collection[int],
    live: Callable[[Symbol], bool],
    later: Body,
) -> Rotated:
    """The loop with the slice at its top.

    ``removed``: what goes from before it; ``live``: whether a variable is read after the loop; ``later``: the
    statements after it, which may use a variable of the slice for something else.
    """
    staying = [statement for place, statement in enumerate(before) if place not in removed]
    bare = any(isinstance(statement, Declare) and statement.value is None for statement in staying)
    used_before = _mentioned(staying) if bare else set()
    homeless = {
        statement.symbol
        for place, statement in enumerate(before)
        if isinstance(statement, Declare)
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
    unread = {statement.symbol for statement in head if isinstance(statement, Declare)} - read
    unread = {symbol for symbol in unread if not live(symbol)}
    freed = unread & reads(tuple(before[place] for place in removed))
    if freed:
        head, top = _handed_down(head, top, unread, freed)
        loop = replace(loop, body=(*top, *remaining))
    shared = {symbol: Symbol(symbol.name, symbol.type, symbol.span) for symbol in homeless & assigned(later)}
    if shared:
        body = _renamed(loop.body, shared)
        loop, top = replace(loop, body=body), list(body[: len(top)])
    following = tuple(
        Declare(symbol.span, symbol, None) for symbol in sorted(shared, key=lambda s: s.span.start)
    )
    return Rotated(head, loop, top, following)


def _handed_down(
    head: Body, top: list[Statement], unread: Collection[Symbol], freed: Collection[Symbol]
) -> tuple[Body, list[Statement]]:
    """The comment above a mask or a pointer that only the moved loads read stands above those now.

    Unless the next line stays: the comment may head that, too (see ``dead.remove``). ``unread``: what will not
    stay; ``freed``: what this move has left unread.
    """
    staying_lines = {
        statement.span.line
        for statement in head
        if not (isinstance(statement, Declare) and statement.symbol in unread)
    }
    result: list[Statement] = []
    for statement in head:
        freed_here = isinstance(statement, Declare) and statement.symbol in freed
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


def _mentioned(statements: Iterable[Statement]) -> set[Symbol]:
    """The variables that statements read or set, other than by declaring them."""
    bare = tuple([s for s in statements if not (isinstance(s, Declare) and s.value is None)])
    return reads(bare) | assigned(bare)


def _renamed(body: Body, change: dict[Symbol, Symbol]) -> Body:
    """The statements with other variables."""
    names = {old: Name(new.span, new.type, new) for old, new in change.items()}

    def target(statement: Statement) -> Statement:
        if isinstance(statement, Declare | Assign) and statement.symbol in change:
            return replace(statement, symbol=change[statement.symbol])
        return statement

    return map_body(map_expressions(body, lambda expr: rebuild(expr, {**names})), target)


def _without_detours(
    body: Sequence[Statement], match: Match, used: Collection[Symbol], live: Callable[[Symbol], bool]
) -> Body:
    """``check = r < n; mask = check`` as ``mask = r < n`` for a carried variable, if ``check`` is not used else."""
    carried = {new.symbol for new in match.carried}
    result = list(body)
    if not carried:
        return tuple(result)
    for copy in body:
        if not (isinstance(copy, Made) and copy.symbol in carried and isinstance(copy.value, Name)):
            continue
        source = copy.value.symbol
        makers = [statement for statement in result if source in inside(statement).sets]
        readers = [statement for statement in result if source in inside(statement).reads]
        if len(makers) != 1 or len(readers) != 1 or source in used or source.parameter or live(source):
            continue
        origin = makers[0]
        if (
            isinstance(origin, Declare)
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


def _head(match: Match, before: Body, removed: Collection[int], homeless: Collection[Symbol]) -> Body:
    """The statements before the loop: new variables in, what the first iteration computes out."""
    result: list[Statement] = []
    gone: list[Statement] = []
    for place, statement in enumerate(before):
        result += [
            Declare(new.first.span, new.symbol, new.first) for new in match.carried if new.place == place
        ]
        if place in removed or (isinstance(statement, Declare) and statement.symbol in homeless):
            if isinstance(statement, Declare | Assign) and statement.symbol in match.part.targets:
                statement = replace(statement, comments=Comments())  # they go where it goes
            gone.append(statement)
        result.append(statement)
    leaving = set(map(id, gone))
    return remove(tuple(result), lambda statement: id(statement) in leaving)


# ---------------------------------------------------------------- the start of the iteration


def _top(
    match: Match, before: Body, removed: Collection[int], homeless: Collection[Symbol]
) -> list[Statement]:
    """The slice as it runs at the start of an iteration."""
    earlier: dict[Symbol, list[Made]] = {}
    for place, statement in enumerate(before):
        if isinstance(statement, Declare | Assign) and (place in removed or statement.symbol in homeless):
            earlier.setdefault(statement.symbol, []).append(statement)
    result: list[Made] = []
    for place in match.part.chosen:
        statement = match.part.lines[place].statement
        assert isinstance(statement, Declare | Assign)
        comments, symbol, value = statement.comments, statement.symbol, match.values[place]
        first = symbol in earlier
        for early in reversed(earlier.pop(symbol, [])):
            comments = _joined(early.comments, comments)
        if isinstance(statement, Declare) or (first and symbol in homeless):
            result.append(Declare(statement.span, symbol, value, comments))
        else:
            result.append(Assign(statement.span, symbol, value, comments))
    return [*_without_copies(result, match)]


def _without_copies(top: list[Made], match: Match) -> list[Made]:
    """``an = *pa; a = an`` as ``a = *pa``, where nothing else reads ``an``."""
    others = {symbol for line in match.part.staying for symbol in line.reads}
    for copy in list(top):
        source = copy.value.symbol if isinstance(copy.value, Name) else None
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


# ---------------------------------------------------------------- what stays


def _rest(match: Match, live: Callable[[Symbol], bool]) -> Body:
    """What stays of the iteration; an ``if`` that the slice was taken from holds what is left of it."""
    result: list[Statement] = []
    guard: If | None = None
    left: list[Statement] = []
    lines = match.part.lines
    for place, line in enumerate(lines):
        if guard is not None and line.guard is not guard:
            result += _if(guard, left, match, lines[place:], live)
        if line.guard is not None and line.guard is not guard:  # its condition, which stands first
            guard, left = line.guard, []
            continue
        guard = line.guard
        target = result if guard is None else left
        for new in match.carried:
            if new.position == place:
                target.append(Assign(new.again.span, new.symbol, new.again))
        if place not in match.part.chosen:
            target.append(line.statement)
    if guard is not None:
        result += _if(guard, left, match, (), live)
    return _without_detours(result, match, reads(match.part.iteration.between), lambda symbol: False)


def _if(
    statement: If,
    left: Sequence[Statement],
    match: Match,
    following: Sequence[Line],
    live: Callable[[Symbol], bool],
) -> list[Statement]:
    """What is left of an ``if`` that fails in the last iteration only: bare, where that one does not need it."""
    if len(left) == len(statement.then) and all(map(operator.is_, left, statement.then)):
        return [statement]
    condition = Evaluate(statement.span, statement.condition)
    read = {symbol for line in following for symbol in line.reads} | reads(match.part.iteration.between)
    statements = [inner for inner in left if not isinstance(inner, Remark)]
    if all(_harmless(inner) for inner in statements) and not any(
        s in read or live(s) for s in assigned(tuple(statements))
    ):
        return [*remark(replace(condition, comments=statement.comments)), *left]
    return [replace(statement, then=tuple(left))]


def _harmless(statement: Statement) -> bool:
    """Whether a statement may run once more: it loads nothing and divides nothing."""
    if not isinstance(statement, Declare | Assign):
        return False
    divides = any(operation.operator in ("/", "%") for operation in nodes((statement,), Binary))
    return not divides and Load not in inside(statement).kinds


def _joined(first: Comments, second: Comments) -> Comments:
    """Both comments, what both say once."""
    above = first.above + tuple(text for text in second.above if text not in first.above)
    beside = second.beside + tuple(text for text in first.beside if text not in second.beside)
    return Comments(above, beside)
