"""Removes the variables that a pass has made useless: read before it, and by nothing after it.

A variable that the user never read stays; it is the user's. The comment above a statement that goes is given to the
next line, if that has none of its own: it may head them both. Else it goes as well.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Declare,
    Evaluate,
    KernelDef,
    Remark,
    Statement,
    Symbol,
)
from pytriton.lang.tree.walk import inside, map_bodies, reads, statements

__all__ = ["remark", "remove", "remove_unread"]


def remove_unread(before: KernelDef, after: KernelDef) -> KernelDef:
    """The kernel after a pass without what that left unread."""
    if after is before:
        return after
    once = reads(before.body)
    while unread := _removable(after.body, once - reads(after.body)):
        trimmed = partial(remove, gone=_Assigns(unread))
        after = replace(after, body=map_bodies(after.body, trimmed))
    return after


def _removable(body: Body, symbols: set[Symbol]) -> set[Symbol]:
    """Those of the variables whose assignments do nothing else."""
    removable: set[Symbol] = set()
    effects: set[Symbol] = set()
    for statement in statements(body) if symbols else ():
        if isinstance(statement, Declare | Assign) and statement.symbol in symbols:
            acts = Atomic in inside(statement).kinds
            (effects if acts else removable).add(statement.symbol)
    return removable - effects


class _Assigns:
    def __init__(self, symbols: set[Symbol]) -> None:
        self.symbols = symbols

    def __call__(self, statement: Statement) -> bool:
        return isinstance(statement, Declare | Assign) and statement.symbol in self.symbols


def remove(body: Body, gone: Callable[[Statement], bool]) -> Body:
    """The statements of a block that stay, with the comments that they take over.

    The next line is that of the source: a pass may have moved what stands there.
    """
    leaving = sorted(filter(gone, body), key=lambda statement: statement.span.start)
    if not leaving:
        return body
    headings: dict[int, tuple[str, ...]] = {}  # line: what stood above the removed lines before it
    for statement in leaving:
        heading = statement.comments.above or headings.pop(statement.span.line, ())
        headings[statement.span.last_line + 1] = heading
    result: list[Statement] = []
    for statement in body:
        if gone(statement):
            continue
        comments = statement.comments
        heading = () if comments.above else headings.pop(statement.span.line, ())
        if heading:
            statement = replace(statement, comments=replace(comments, above=heading))
        result.append(statement)
    return tuple(result)


def remark(statement: Declare | Assign | Evaluate) -> Body:
    """What is left of a statement that is removed: its comments."""
    comments = statement.comments
    return (Remark(statement.span, comments),) if comments.above or comments.beside else ()
