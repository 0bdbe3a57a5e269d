"""Loops in which a program may wait for another one.

Input: a body. Such a loop is not counted, and whether it goes on depends on memory that is read in each iteration:
its condition, or that of a ``break``, a ``return`` or a ``continue`` in it.

A program of such a kernel has a *head* and a *tail*: the tail begins with the first statement of the body that
stores, has an atomic, or holds such a loop. Heads run at the same time; tails run alone, by number of the program.
So a head writes nothing, and what it reads is ordered with no other program's stores (atomics alone order, and it
has none). While a tail runs, all earlier programs have ended, no later one has written, and only the tail itself
changes memory. If it is at the head of a loop twice, has changed nothing in between, and the variables that the
loop sets are the same, it will be there forever (TC555), with any number of threads: nothing else can ever run.
States are compared as in R. Brent's search for cycles (1980), so each cycle is found.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Body, Expr, Symbol
from pytriton.lang.tree.walk import bodies, expressions, has_memory, kinds, names, statements

Loop = typed.For | typed.While | typed.DoWhile
_JUMPS = typed.Break | typed.Return | typed.Continue


def waiting_loops(body: Body) -> list[Loop]:
    """The loops in which a program may wait for another one."""
    return [loop for loop in statements(body) if isinstance(loop, Loop) and _waits(loop)]


def tail_of(body: Body, loops: Sequence[Loop]) -> int:
    """The number of the statement with which the tail begins, where there are such loops."""

    def writes(statement: typed.Statement) -> bool:
        inner = statements((statement,))
        return any(isinstance(part, typed.Store) or part in loops for part in inner) or any(
            typed.Atomic in kinds(expr) for expr in expressions((statement,))
        )

    return next(number for number, statement in enumerate(body) if writes(statement))


def carried(loop: Loop, outlived: Container[Symbol]) -> list[Symbol]:
    """The variables that may differ between two iterations. ``outlived``: those that C declares outside of it."""
    parts = (loop.body, loop.step) if isinstance(loop, typed.For) else (loop.body,)
    settings = [
        statement
        for part in parts
        for statement in statements(part)
        if isinstance(statement, typed.Declare | typed.Assign | typed.RangeLoop)
    ]
    own = {statement.symbol for statement in settings if not isinstance(statement, typed.Assign)}
    changed = dict.fromkeys(statement.symbol for statement in settings)
    return [symbol for symbol in changed if symbol not in own or symbol in outlived]


def _waits(loop: typed.Statement) -> bool:
    """Whether what the loop reads from memory decides how long it runs."""
    inner = [statement for part in bodies(loop) for statement in statements(part)]
    decides = list(expressions((loop,), deep=False))
    for statement in inner:
        jumps = isinstance(statement, typed.If) and any(
            isinstance(nested, _JUMPS) for part in bodies(statement) for nested in statements(part)
        )
        if jumps or isinstance(statement, typed.RangeLoop | Loop):
            decides += expressions((statement,), deep=False)
    return any(map(has_memory, _computed(decides, inner)))


def _computed(decides: list[Expr], inner: list[typed.Statement]) -> list[Expr]:
    """The expressions, and all of the loop that their variables are set to."""
    sources: dict[Symbol, list[Expr]] = {}
    for statement in inner:
        if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None:
            sources.setdefault(statement.symbol, []).append(statement.value)
        if isinstance(statement, typed.If):
            for part in bodies(statement):
                for change in statements(part):
                    if isinstance(change, typed.Declare | typed.Assign):
                        sources.setdefault(change.symbol, []).append(statement.condition)
    result, seen = list(decides), set[Symbol]()
    for expr in result:  # which grows
        for symbol in names(expr) - seen:
            seen.add(symbol)
            result += sources.get(symbol, [])
    return result
