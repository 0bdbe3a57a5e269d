"""Liveness: which variables may be read after a statement, and the removal of assignments that are not.

A ``Later`` is the set of symbols whose value may be read after one statement: by those that follow it in its block
before they set them again, by what follows the blocks around it, and by the next iteration of a loop. It answers
``in`` without building the set, so that passes stay linear in the length of a kernel.
"""

from __future__ import annotations

import dataclasses
from bisect import bisect_right
from collections.abc import Callable, Set
from functools import cached_property, partial

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.walk import bodies, expressions, inside, map_bodies, names, reads, statements

Mentions = dict[typed.Symbol, list[tuple[int, bool]]]  # where a symbol is read (True) or set first, in order


@dataclasses.dataclass(eq=False)
class Later:
    """The symbols that may be read after a statement of a block; of a ``loop``, also in its next iteration."""

    outer: Later | None
    block: LiveBlock
    position: int
    loop: typed.Statement | None = None

    @cached_property
    def again(self) -> _Symbols:
        """The symbols that the next iteration may read before it sets them."""
        return set() if self.loop is None else _again(self.loop)

    def __contains__(self, symbol: typed.Symbol) -> bool:
        read = self._next(symbol)
        if read is not None:
            return read
        return symbol in self.again or (self.outer is not None and symbol in self.outer)

    def in_block(self, symbol: typed.Symbol) -> bool:
        """Whether the statements that follow in the same block read the symbol; no others can if the block declares
        it.
        """
        return bool(self._next(symbol))

    def _next(self, symbol: typed.Symbol) -> bool | None:
        """Whether the next mention in the block reads the symbol; None if there is none."""
        places = self.block.mentions.get(symbol, [])
        index = bisect_right(places, (self.position, True))
        return places[index][1] if index < len(places) else None


@dataclasses.dataclass
class LiveBlock:
    """One block of statements, and the symbols that may be read after it."""

    body: typed.Body
    outer: Later | None

    @cached_property
    def mentions(self) -> Mentions:
        """Where in the block each symbol is read, or set first."""
        mentions: Mentions = {}
        for position, statement in enumerate(self.body):
            read, fixed = _effects(statement)
            for symbol in read:
                mentions.setdefault(symbol, []).append((position, True))
            for symbol in fixed - read:
                mentions.setdefault(symbol, []).append((position, False))
        return mentions

    def after(self, position: int) -> Later:
        """The symbols that may be read after the statement at a position."""
        return Later(self.outer, self, position)

    def within(self, position: int, statement: typed.Statement) -> Later:
        """The symbols that may be read after the blocks inside a statement, also by the next iteration."""
        return Later(self.outer, self, position, None if isinstance(statement, typed.If) else statement)


_Symbols = Set[typed.Symbol]


def exposed(body: typed.Body) -> _Symbols:
    """The symbols that the statements may read before they set them."""
    return _sequence(body)[0]


def _sequence(body: typed.Body) -> tuple[_Symbols, _Symbols]:
    """The symbols that a block may read before it sets them, and those that it always sets."""
    read: set[typed.Symbol] = set()
    fixed: set[typed.Symbol] = set()
    for statement in body:
        inner_read, inner_fixed = _effects(statement)
        read |= inner_read - fixed
        fixed |= inner_fixed
    return read, fixed


def _effects(statement: typed.Statement) -> tuple[_Symbols, _Symbols]:
    """The same for one statement."""
    if not bodies(statement):
        effects = inside(statement)
        return effects.reads, effects.sets
    read = read_by(statement)
    match statement:
        case typed.If(then=then, otherwise=otherwise):
            first, second = _sequence(then), _sequence(otherwise)
            return read | first[0] | second[0], first[1] & second[1]
        case typed.For(init=init):
            start, fixed = _sequence(init)
            return start | ((read | _again(statement)) - fixed), fixed
        case typed.RangeLoop(symbol=symbol, body=body):
            return read | (exposed(body) - {symbol}), set()
        case _:
            return _again(statement), set()


def _again(statement: typed.Statement) -> _Symbols:
    """The symbols that a loop may read after an iteration before it sets them."""
    inner = bodies(statement)[1:] if isinstance(statement, typed.For) else bodies(statement)
    return read_by(statement).union(*map(exposed, inner))


def read_by(statement: typed.Statement) -> frozenset[typed.Symbol]:
    """The symbols that the expressions of a statement itself read."""
    return frozenset[typed.Symbol]().union(*map(names, expressions((statement,), deep=False)))


# ---------------------------------------------------------------- dead
# Removes the variables that a pass has made dead: read before it, but not after it.
#
# A variable that the source never reads stays. The comment above a removed statement moves to the next line if that
# has none, as it may head both; else it is removed, too.


def remove_unread(before: typed.KernelDef, after: typed.KernelDef) -> typed.KernelDef:
    """The kernel after a pass without the variables that it made dead."""
    if after is before:
        return after
    once = reads(before.body)
    while unread := _removable(after.body, once - reads(after.body)):
        trimmed = partial(remove, gone=_Assigns(unread))
        after = replace(after, body=map_bodies(after.body, trimmed))
    return after


def _removable(body: typed.Body, symbols: set[typed.Symbol]) -> set[typed.Symbol]:
    """Those of the variables whose assignments have no other effect."""
    removable: set[typed.Symbol] = set()
    effects: set[typed.Symbol] = set()
    for statement in statements(body) if symbols else ():
        if isinstance(statement, typed.Declare | typed.Assign) and statement.symbol in symbols:
            acts = typed.Atomic in inside(statement).kinds
            (effects if acts else removable).add(statement.symbol)
    return removable - effects


class _Assigns:
    def __init__(self, symbols: set[typed.Symbol]) -> None:
        self.symbols = symbols

    def __call__(self, statement: typed.Statement) -> bool:
        return isinstance(statement, typed.Declare | typed.Assign) and statement.symbol in self.symbols


def remove(body: typed.Body, gone: Callable[[typed.Statement], bool]) -> typed.Body:
    """The remaining statements of a block, with the comments that they take over.

    The next line is that of the source, as a pass may have moved its statement.
    """
    leaving = sorted(filter(gone, body), key=lambda statement: statement.span.start)
    if not leaving:
        return body
    headings: dict[int, tuple[str, ...]] = {}  # line: the comment above the removed lines before it
    for statement in leaving:
        heading = statement.comments.above or headings.pop(statement.span.line, ())
        headings[statement.span.last_line + 1] = heading
    result: list[typed.Statement] = []
    for statement in body:
        if gone(statement):
            continue
        comments = statement.comments
        heading = () if comments.above else headings.pop(statement.span.line, ())
        if heading:
            statement = replace(statement, comments=replace(comments, above=heading))
        result.append(statement)
    return tuple(result)


def remark(statement: typed.Declare | typed.Assign | typed.Evaluate) -> typed.Body:
    """The comments of a removed statement."""
    comments = statement.comments
    return (typed.Remark(statement.span, comments),) if comments.above or comments.beside else ()
