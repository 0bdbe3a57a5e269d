"""Removes the variables that a pass has made useless: read before it, and by nothing after it.

A variable that the user never read stays; it is the user's. The comment above a statement that goes is given to the
next line, if that has none of its own: it may head them both. Else it goes as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pytriton.frozen import replace
from pytriton.lang.typed import Assign, Atomic, Body, Declare, Evaluate, KernelDef, Remark, Statement, Symbol
from pytriton.lang.walk import bodies, expressions, map_bodies, reads, walk

__all__ = ["remark", "swept", "without"]


def swept(before: KernelDef, after: KernelDef) -> KernelDef:
    """The kernel after a pass without what that left unread."""
    if after is before:
        return after
    once = reads(before.body)
    while unread := _removable(after.body, once - reads(after.body)):
        trimmed = partial(without, gone=_Assigns(unread))
        after = replace(after, body=map_bodies(after.body, trimmed))
    return after


def _removable(body: Body, symbols: set[Symbol]) -> set[Symbol]:
    """Those of the variables whose assignments do nothing else."""
    found: set[Symbol] = set()
    effects: set[Symbol] = set()
    for statement in _assignments(body):
        if statement.symbol in symbols:
            nodes = (node for expr in expressions((statement,)) for node in walk(expr))
            acts = any(isinstance(node, Atomic) for node in nodes)
            (effects if acts else found).add(statement.symbol)
    return found - effects


def _assignments(body: Body) -> Iterator[Declare | Assign]:
    for statement in body:
        if isinstance(statement, Declare | Assign):
            yield statement
        for inner in bodies(statement):
            yield from _assignments(inner)


class _Assigns:
    def __init__(self, symbols: set[Symbol]) -> None:
        self.symbols = symbols

    def __call__(self, statement: Statement) -> bool:
        return isinstance(statement, Declare | Assign) and statement.symbol in self.symbols


def without(body: Body, gone: Callable[[Statement], bool]) -> Body:
    """The statements of a block that stay, with the comments that they take over."""
    result: list[Statement] = []
    heading: tuple[str, ...] = ()
    last = 0
    for statement in body:
        if gone(statement):
            heading = statement.comments.above or (heading if statement.span.line == last + 1 else ())
            last = statement.span.source.position(max(statement.span.start, statement.span.end - 1))[0]
            continue
        comments = statement.comments
        if heading and not comments.above and statement.span.line == last + 1:
            statement = replace(statement, comments=replace(comments, above=heading))
        heading = ()
        result.append(statement)
    return body if len(result) == len(body) else tuple(result)


def remark(statement: Declare | Assign | Evaluate) -> Body:
    """What is left of a statement that is removed: its comments."""
    comments = statement.comments
    return (Remark(statement.span, comments),) if comments.above or comments.behind else ()
