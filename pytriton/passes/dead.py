"""Removes the variables that a pass has made useless: read before it, and by nothing after it.

A variable that the user never read stays; it is the user's. Comments stay as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytriton.frozen import replace
from pytriton.lang.typed import Assign, Atomic, Body, Declare, Evaluate, KernelDef, Remark, Statement, Symbol
from pytriton.lang.walk import bodies, expressions, map_statements, reads, walk

__all__ = ["remark", "swept"]


def swept(before: KernelDef, after: KernelDef) -> KernelDef:
    """The kernel after a pass without what that left unread."""
    if after is before:
        return after
    once = reads(before.body)
    while unread := _removable(after.body, once - reads(after.body)):
        after = replace(after, body=map_statements(after.body, _Without(unread)))
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


class _Without:
    def __init__(self, unread: set[Symbol]) -> None:
        self.unread = unread

    def __call__(self, statement: Statement) -> Body:
        if isinstance(statement, Declare | Assign) and statement.symbol in self.unread:
            return remark(statement)
        return (statement,)


def remark(statement: Declare | Assign | Evaluate) -> Body:
    """What is left of a statement that is removed: its comments."""
    comments = statement.comments
    return (Remark(statement.span, comments),) if comments.above or comments.behind else ()
