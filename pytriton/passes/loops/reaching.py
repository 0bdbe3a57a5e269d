"""Which assignment gave a variable the value that it has at some place of straight-line code, and what that is.

``expand`` writes an expression with every variable replaced by what it was computed from, as far as that reads no
memory. Two expressions of different places are equal when their expansions are: a variable that cannot be replaced
is named after the assignment that it has its value from, so that two values of one name are two names.
"""

from __future__ import annotations

from collections.abc import Collection

from pytriton.lang.tree.typed import Assign, Body, Declare, Expr, Name, Symbol
from pytriton.lang.tree.walk import has_memory, inside, names, rebuild
from pytriton.passes.analysis.queries import larger_than

__all__ = ["History"]

_MAX_DEPTH = 24  # how many assignments are followed
_MAX_NODES = 100  # nodes of a value that stands for its variable


class History:
    """The assignments of a row of statements. A place is the position of a statement, before it runs."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self._writers = writers = dict[Symbol, list[int]]()
        for position, statement in enumerate(body):
            cls = statement.__class__
            if cls is Declare or cls is Assign:  # nearly all
                writers.setdefault(statement.symbol, []).append(position)  # type: ignore[union-attr]
            else:
                for symbol in inside(statement).sets:
                    writers.setdefault(symbol, []).append(position)
        self._known: dict[tuple[Symbol, int], Expr] = {}

    @property
    def end(self) -> int:
        """The place after the last statement."""
        return len(self.body)

    def writer(self, symbol: Symbol, place: int, without: Collection[int] = ()) -> int | None:
        """The last statement before a place that may set a variable, as if those ``without`` were not there."""
        writers = (at for at in reversed(self._writers.get(symbol, ())) if at < place and at not in without)
        return next(writers, None)

    def value(self, symbol: Symbol, place: int) -> tuple[Expr, int] | None:
        """The expression that a variable was set to last, and where; None if that is not one assignment."""
        at = self.writer(symbol, place)
        if at is None:
            return None
        statement = self.body[at]
        if not isinstance(statement, Declare | Assign) or statement.value is None:
            return None
        return statement.value, at

    def expand(self, expr: Expr, place: int, without: Collection[int] = (), depth: int = 0) -> Expr:
        """The expression at a place, in terms of what the statements started from."""
        change: dict[Symbol, Expr] = {}
        for symbol in names(expr):
            at = self.writer(symbol, place, without)
            if at is not None:
                change[symbol] = self._expanded(symbol, at, depth)
        return rebuild(expr, change) if change else expr

    def _expanded(self, symbol: Symbol, at: int, depth: int) -> Expr:
        """What the statement at a position sets a variable to."""
        known = self._known.get((symbol, at))
        if known is not None:
            return known
        statement = self.body[at]
        value: Expr | None = None
        simple = isinstance(statement, Declare | Assign) and statement.value is not None
        if simple and depth < _MAX_DEPTH and not has_memory(statement.value):  # type: ignore[union-attr,arg-type]
            value = self.expand(statement.value, at, (), depth + 1)  # type: ignore[union-attr,arg-type]
        if value is None or larger_than(value, _MAX_NODES):
            value = Name(statement.span, symbol.type, Symbol(symbol.name, symbol.type, symbol.span))
        self._known[symbol, at] = value
        return value
