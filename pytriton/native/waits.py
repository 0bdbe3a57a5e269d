"""Loops in which a program may wait for another one.

Input: a body. Such a loop is not counted, and whether it goes on depends on memory that is read in each iteration:
its condition, or that of a ``break``, a ``return`` or a ``continue`` in it. C has nothing to end a wait that never
succeeds (TC555), so these kernels run on the interpreter.
"""

from __future__ import annotations

from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Body, Expr, Symbol
from pytriton.lang.tree.walk import bodies, expressions, has_memory, names, statements

_LOOPS = typed.For | typed.While | typed.DoWhile
_JUMPS = typed.Break | typed.Return | typed.Continue


def may_wait(body: Body) -> bool:
    """Whether a program may wait for another one."""
    return any(isinstance(loop, _LOOPS) and _waits(loop) for loop in statements(body))


def _waits(loop: typed.Statement) -> bool:
    """Whether what the loop reads from memory decides how long it runs."""
    inner = [statement for part in bodies(loop) for statement in statements(part)]
    decides = list(expressions((loop,), deep=False))
    for statement in inner:
        jumps = isinstance(statement, typed.If) and any(
            isinstance(one, _JUMPS) for part in bodies(statement) for one in statements(part)
        )
        if jumps or isinstance(statement, typed.RangeLoop | _LOOPS):
            decides += expressions((statement,), deep=False)
    return any(map(has_memory, _computed(decides, inner)))


def _computed(decides: list[Expr], inner: list[typed.Statement]) -> list[Expr]:
    """The expressions, and all of the loop that their variables are set to."""
    values: dict[Symbol, list[Expr]] = {}
    conditions: dict[Symbol, list[Expr]] = {}
    for statement in inner:
        if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None:
            values.setdefault(statement.symbol, []).append(statement.value)
        if isinstance(statement, typed.If):
            for part in bodies(statement):
                for one in statements(part):
                    if isinstance(one, typed.Declare | typed.Assign):
                        conditions.setdefault(one.symbol, []).append(statement.condition)
    result, pending, seen = list(decides), list(decides), set[Symbol]()
    while pending:
        for symbol in names(pending.pop()) - seen:
            seen.add(symbol)
            more = values.get(symbol, []) + conditions.get(symbol, [])
            result += more
            pending += more
    return result
