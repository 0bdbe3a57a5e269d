"""Takes out what never runs in loops: a ``while`` whose first test fails, a branch of an ``if`` that is decided.

``for (i = 0; i < 0; i++)`` is what a macro or a tile may leave. It costs nothing, but Triton 3.6 fails on a load
or a store in a ``while`` that it can tell is never entered: TritonGPUCoalesce asks for facts about pointers that
its analysis, rightly, never visited. So what can be told from the text goes before Triton sees it.

What is known at a place is a number for each integer variable that has one whenever that place is reached. A loop
starts with what holds before it and after each turn: assumed first, then checked by running over the body.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.convert import constant
from pytriton.lang.typed import (
    Assign,
    Body,
    Declare,
    Expr,
    For,
    If,
    KernelDef,
    Literal,
    RangeLoop,
    Remark,
    Statement,
    Symbol,
    While,
)
from pytriton.lang.types import ScalarType
from pytriton.lang.walk import assigned, bodies, has_memory, rebuild
from pytriton.passes.dead import swept

__all__ = ["unreached"]

_MOST_LOOKS = 2000  # statements looked at before loops are taken to change all that they assign

Known = dict[Symbol, Expr]  # literals


def unreached(kernel: KernelDef) -> KernelDef:
    """The kernel without the loops, and the branches in loops, that never run."""
    if not any(_has_while(statement) for statement in kernel.body):
        return kernel
    body = _Reached().body(kernel.body, {}, inside=False)
    return kernel if body is kernel.body else swept(kernel, replace(kernel, body=body))


def _has_while(statement: Statement) -> bool:
    if isinstance(statement, While | For):
        return True
    return any(_has_while(inner) for body in bodies(statement) for inner in body)


class _Reached:
    def __init__(self) -> None:
        self._looks = _MOST_LOOKS

    def body(self, body: Body, known: Known, *, inside: bool) -> Body:
        """What may run of the statements; ``known`` becomes what is known behind them."""
        result: list[Statement] = []
        self._looks -= len(body)
        for statement in body:
            match statement:
                case Declare(symbol=symbol) | Assign(symbol=symbol):
                    _learn(known, symbol, statement.value)
                    result.append(statement)
                case If():
                    result += self._if(statement, known, inside=inside)
                case While() | For() | RangeLoop():
                    result += self._loop(statement, known, inside=inside)
                case _:
                    result.append(statement)
        same = len(result) == len(body) and all(a is b for a, b in zip(result, body, strict=True))
        return body if same else tuple(result)

    def _if(self, statement: If, known: Known, *, inside: bool) -> Body:
        decided = _number(statement.condition, known) if inside else None
        if decided is not None and constant(statement.condition) is None:
            taken = statement.then if decided else statement.otherwise
            comments = statement.comments
            above: Body = (Remark(statement.span, comments),) if comments.above or comments.behind else ()
            return above + self.body(taken, known, inside=inside)
        other = dict(known)
        then = self.body(statement.then, known, inside=inside)
        otherwise = self.body(statement.otherwise, other, inside=inside)
        _meet(known, other)
        if then is statement.then and otherwise is statement.otherwise:
            return (statement,)
        return (replace(statement, then=then, otherwise=otherwise),)

    def _loop(self, loop: While | For | RangeLoop, known: Known, *, inside: bool) -> Body:
        init: Body = ()
        step: Body = ()
        if isinstance(loop, For):
            init, step = self.body(loop.init, known, inside=inside), loop.step
        condition = None if isinstance(loop, RangeLoop) else loop.condition
        if condition is not None and _number(condition, known) == 0:
            return init
        if isinstance(loop, RangeLoop):
            known.pop(loop.symbol, None)
        self._assume(loop.body + step, known)
        start = dict(known)
        body = self.body(loop.body, start, inside=True)
        if isinstance(loop, RangeLoop):
            known.pop(loop.symbol, None)
        if body is loop.body and (not isinstance(loop, For) or init is loop.init):
            return (loop,)
        return (replace(loop, init=init, body=body) if isinstance(loop, For) else replace(loop, body=body),)

    def _assume(self, body: Body, known: Known) -> None:
        """Forget what does not hold at the start of every turn."""
        while self._looks > 0:
            after = dict(known)
            self.body(body, after, inside=True)
            before = len(known)
            _meet(known, after)
            if len(known) == before:
                return
        for symbol in assigned(body):
            known.pop(symbol, None)


def _learn(known: Known, symbol: Symbol, value: Expr | None) -> None:
    number = None if value is None or not _is_integer(symbol) else _number(value, known)
    if value is None or number is None:
        known.pop(symbol, None)
    else:
        assert isinstance(symbol.type, ScalarType)
        known[symbol] = Literal(value.span, symbol.type, number)


def _is_integer(symbol: Symbol) -> bool:
    return isinstance(symbol.type, ScalarType) and not symbol.type.is_float


def _number(expr: Expr, known: Known) -> int | None:
    if has_memory(expr):
        return None  # an atomic acts, whatever its value is multiplied with
    value = constant(rebuild(expr, known))
    return value if isinstance(value, int) else None


def _meet(known: Known, other: Known) -> None:
    """Leave what is known in both."""
    for symbol in list(known):
        if symbol not in other or constant(known[symbol]) != constant(other[symbol]):
            del known[symbol]
