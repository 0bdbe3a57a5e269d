"""The statements of a backward, tidied: dead ones dropped, copies joined, adjoints announced.

They are those of the typed tree. A ``Declare`` or ``Assign`` of one variable, a ``Store`` or atomic, a ``For``, an
``If``. The ``span`` of an adjoint is that of the forward's statement, of all else ``ADDED``. A store through a
``noalias`` variable keeps a state of the forward; it is needed where something loads through that variable. The
``site`` of a store is the number of the forward's load whose whole gradient it stores.

``live`` drops unread variables. ``tidy`` then joins copies: a loop changes the variable that it starts from
where that is not read again, and ``c_1 = c + x; c = c_1`` becomes ``c += x``. ``announced`` writes above the
adjoint of a statement what it is the adjoint of.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive import graph
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Body, Expr, Statement, Symbol
from pytriton.lang.tree.unparse import ADDED
from pytriton.lang.tree.walk import (
    map_bodies,
    map_statements,
    names,
    reads,
    statements,
    with_bodies,
    with_expressions,
)
from pytriton.passes.analysis.liveness import read_by
from pytriton.passes.analysis.queries import nodes
from pytriton.source import Span

MAX_ANNOUNCED = 90  # characters of a statement in a comment


# ---------------------------------------------------------------- dead statements


def live(body: Iterable[Statement], after: Iterable[Symbol] = ()) -> Body:
    """The statements without those whose results are not read."""
    return _live(tuple(body), set(after))[0]


@record
class Unread:
    """Proof that a store fills scratch that nothing reads afterwards."""

    store: typed.Store


def unread(store: typed.Store, needed: set[Symbol]) -> Unread | None:
    """Proof that only a store still needs its pointer into scratch; ``needed``: variables that are read later."""
    scratch = any(symbol.noalias and not symbol.parameter for symbol in names(store.pointer) - needed)
    return Unread(store) if scratch else None


def _live(body: Body, needed: set[Symbol]) -> tuple[Body, set[Symbol]]:
    kept: list[Statement] = []
    for statement in reversed(body):
        match statement:
            case typed.Declare(symbol=symbol) | typed.Assign(symbol=symbol) if symbol not in needed:
                continue
            case typed.Store() if unread(statement, needed) is not None:
                continue
            case typed.Declare(symbol=symbol):
                needed = (needed - {symbol}) | read_by(statement)
            case (
                typed.Assign() | typed.Store() | typed.Evaluate()
            ):  # of what is assigned, the declaration, too
                needed = needed | read_by(statement)
            case typed.For():
                result = _live_loop(statement, needed)
                if result is None:
                    continue
                statement, needed = result
            case typed.If(then=then, otherwise=otherwise):
                yes, first = _live(then, needed)
                no, second = _live(otherwise, needed)
                if not yes and not no:
                    continue
                statement = replace(statement, then=yes, otherwise=no)
                needed = first | second | read_by(statement)
            case _:
                raise AssertionError(statement)
        kept.append(statement)
    return tuple(kept[::-1]), needed


def _live_loop(loop: typed.For, after: set[Symbol]) -> tuple[typed.For, set[Symbol]] | None:
    """The loop and the variables that it reads; None where it has no effect."""
    if not any(_live_body(loop, after, set())[:2]):
        return None
    body, step, needed = _live_body(loop, after, read_by(loop))
    init, needed = _live(loop.init, needed)
    return replace(loop, init=init, body=body, step=step), needed


def _live_body(
    loop: typed.For, after: set[Symbol], tested: Collection[Symbol]
) -> tuple[Body, Body, set[Symbol]]:
    end = after.union(tested)
    while True:
        step, middle = _live(loop.step, set(end))
        body, start = _live(loop.body, middle)
        if start <= end:
            return body, step, end
        end |= start


# ---------------------------------------------------------------- copies


def tidy(body: Body, raw: set[Symbol]) -> Body:
    """The statements without needless copies, inner blocks first. ``raw``: variables as they were loaded, so that a
    larger floating type holds the same.
    """

    def block(inner: Body) -> Body:
        loops = (_with_steps_inside(_tidy_ends(s)) if isinstance(s, typed.For) else s for s in inner)
        return _join_starts([*loops], raw)

    return map_bodies(body, block)


def _with_steps_inside(loop: typed.For) -> typed.For:
    """Steps that read what the body declares are at its end, where C can see it."""
    inner = {statement.symbol for statement in loop.body if isinstance(statement, typed.Declare)}
    if inner.isdisjoint(reads(loop.step)):
        return loop
    return replace(loop, body=(*loop.body, *loop.step), step=())


def _join_starts(body: list[Statement], raw: set[Symbol]) -> Body:
    """``T w = v`` where v was declared in this block and is not read again: v is w."""
    declared: set[Symbol] = set()
    at = 0
    while at < len(body):
        statement = body[at]
        if isinstance(statement, typed.Declare):
            symbol, source = statement.symbol, f.variable(statement.value)
            if (
                source is not None
                and source in declared
                and (source in raw or (source.type, source.word) == (symbol.type, symbol.word))
                and source not in reads(tuple(body[at + 1 :]))
            ):
                kept = replace(symbol, name=source.name)
                body = [*body[:at], *body[at + 1 :]]
                body = list(renamed(body, {source: kept, symbol: kept}))
                declared.add(kept)
                raw |= {kept} if source in raw else set()
                continue
            declared.add(symbol)
        at += 1
    return tuple(body)


def _tidy_ends(loop: typed.For) -> typed.For:
    """The ends of an iteration, ``w = w_1``: the statement that gave w_1 sets w itself, there or at the end."""
    while True:
        ends = [s for s in (*loop.body, *loop.step) if isinstance(s, typed.Assign)]
        changed = next(filter(None, (_tidy_end(loop, end) for end in ends)), None)
        if changed is None:
            return loop
        loop = changed


def _tidy_end(loop: typed.For, end: typed.Assign) -> typed.For | None:
    last = f.variable(end.value)
    declared = next((s for s in loop.body if isinstance(s, typed.Declare) and s.symbol is last), None)
    if last is None or declared is None or declared.value is None:
        return None
    every = (*loop.body, *loop.step)
    others = tuple(s for s in every if s is not end and s is not declared)
    behind = tuple(s for s in every[every.index(declared) + 1 :] if s is not end)
    if end not in loop.step and end.symbol not in reads(behind):  # there
        there = typed.Assign(declared.span, end.symbol, declared.value, declared.comments)
        loop = _replaced(loop, {declared: there, end: None})
        return replace(loop, body=renamed(loop.body, {last: end.symbol}))
    if last not in reads(others) and not _moves_past(every[: every.index(end)], declared.value):  # at the end
        return _replaced(loop, {declared: None, end: replace(end, value=declared.value)})
    return None


def _moves_past(before: Body, value: Expr) -> bool:
    """Whether a variable that the value reads is set before the end, or in between."""
    return any(
        isinstance(statement, typed.Assign) and statement.symbol in names(value) for statement in before
    )


def _replaced(loop: typed.For, change: Mapping[Statement, Statement | None]) -> typed.For:
    def apply(body: Body) -> Body:
        return tuple(new for new in (change.get(s, s) for s in body) if new is not None)

    return replace(loop, body=apply(loop.body), step=apply(loop.step))


def renamed(body: Iterable[Statement], new: Mapping[Symbol, Symbol]) -> Body:
    """The statements with other variables in place of some."""

    def statement(old: Statement) -> Body:
        changed = with_expressions(old, lambda expr: graph.renamed(expr, new))
        if isinstance(changed, typed.Declare | typed.Assign) and changed.symbol in new:
            changed = replace(changed, symbol=new[changed.symbol])
        return (changed,)

    return map_statements(tuple(body), statement)


# ---------------------------------------------------------------- comments


def announced(body: Body) -> Body:
    """The statements with what they are the adjoint of above them, once for adjacent ones."""
    before: str | None = None

    def block(body: Body) -> Body:
        nonlocal before
        result: list[Statement] = []
        for statement in body:
            about = None if statement.span is ADDED else quoted(statement.span)
            if about is not None and about != before:
                above = (*statement.comments.above, f"adjoint of: {about}")
                statement = replace(statement, comments=replace(statement.comments, above=above))
            before = about
            result.append(with_bodies(statement, block))
        return tuple(result)

    return block(body)


def quoted(span: Span) -> str:
    """A statement in one line, for a comment."""
    text = span.text
    if re.match(r"(for|while|if)\b", text):
        text = text.partition("{")[0].partition("\n")[0]
    text = " ".join(text.replace("\\", " ").split()).rstrip(";")
    for opening, closing in ("[]", "()"):  # spans may end before the last one
        text += closing * (text.count(opening) - text.count(closing))
    return text if len(text) <= MAX_ANNOUNCED else text[: MAX_ANNOUNCED - 3] + "..."


def loops(body: Body) -> int:
    """How many loops there are."""
    return sum(isinstance(statement, typed.For) for statement in statements(body))


def products(body: Body) -> int:
    """How many products of blocks there are."""
    return len(nodes(body, typed.Dot))
