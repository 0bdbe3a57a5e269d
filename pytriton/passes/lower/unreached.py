"""Takes out what never runs: a loop whose first test fails, a branch of an ``if`` that is decided.

``for (i = 0; i < 0; i++)`` is what a macro or a tile may leave, and so is ``if (lda * K != K * lda)``. It costs
nothing, but an old Triton fails on a load or a store in code that it can tell is never entered, where it finds out
after it has folded constants: TritonGPUCoalesce asks for facts about pointers that its analysis, rightly, never
visited. So what can be told from the text goes before Triton sees it.

What is known at a place is the number of each variable's value there (numbering.py). A loop starts with what holds
before it and after each iteration: assumed first, then checked by running over the body. Outside of loops a
branch on constants stays: Triton takes it out itself, and in time.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Assign,
    Body,
    Declare,
    Expr,
    For,
    If,
    KernelDef,
    RangeLoop,
    Remark,
    Return,
    Statement,
    Symbol,
    While,
)
from pytriton.lang.tree.walk import assigned, names, statements
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.dead import remove_unread
from pytriton.passes.analysis.queries import acts, assignments, unless_changed
from pytriton.passes.lower.numbering import Known, Numbering

__all__ = ["unreached"]

_MAX_VISITS = 2000  # statements looked at before loops are taken to change all that they assign


# Triton 3.6: fails on accesses in code that is never entered.
def unreached(kernel: KernelDef, _: Context) -> KernelDef:
    """The kernel without the loops and the branches that never run."""
    deciding = _deciding(kernel.body)
    if deciding is None:
        return kernel
    body = _Reached(deciding).body(kernel.body, {}, inside=False)
    return kernel if body is kernel.body else remove_unread(kernel, replace(kernel, body=body))


def _deciding(body: Body) -> set[Symbol] | None:
    """The variables on which a branch or a loop hangs, and those that they are computed from; None without any."""
    pending = [
        statement.condition
        for statement in statements(body)
        if isinstance(statement, If | While | For) and statement.condition is not None
    ]
    if not pending:
        return None
    values: dict[Symbol, list[Expr]] = {}
    for symbol, value in assignments(body):
        values.setdefault(symbol, []).append(value)
    deciding: set[Symbol] = set()
    while pending:
        new = names(pending.pop()) - deciding
        deciding |= new
        for symbol in new:
            pending += values.get(symbol, ())
    return deciding


class _Reached:
    def __init__(self, deciding: set[Symbol]) -> None:
        self._visits = _MAX_VISITS
        self._deciding = deciding
        self._numbering = Numbering()
        self._late: set[Symbol] = set()  # variables that may hold constants which Triton finds out late

    def body(self, body: Body, known: Known, *, inside: bool) -> Body:
        """What may run of the statements; ``known`` becomes what is known after them."""
        result: list[Statement] = []
        self._visits -= len(body)
        for statement in body:
            match statement:
                case Declare(symbol=symbol) | Assign(symbol=symbol):
                    self._learn(known, symbol, statement.value)
                    result.append(statement)
                case If():
                    left = self._if(statement, known, inside=inside)
                    result += left
                    if left and isinstance(left[-1], Return):
                        break  # a branch that is always taken: nothing after it runs
                case While() | For() | RangeLoop():
                    result += self._loop(statement, known, inside=inside)
                case _:
                    self._numbering.written()
                    result.append(statement)
        return unless_changed(body, result)

    def _if(self, statement: If, known: Known, *, inside: bool) -> Body:
        decided = self._decided(statement.condition, known)
        if decided is not None and (
            self._numbering.late or (inside and constant(statement.condition) is None)
        ):
            taken = statement.then if decided else statement.otherwise
            comments = statement.comments
            above: Body = (Remark(statement.span, comments),) if comments.above or comments.beside else ()
            return above + self.body(taken, known, inside=inside)
        other = dict(known)
        then = self.body(statement.then, known, inside=inside)
        otherwise = self.body(statement.otherwise, other, inside=inside)
        self._meet(known, other, statement.then + statement.otherwise, self._numbering.new())
        if then is statement.then and otherwise is statement.otherwise:
            return (statement,)
        return (replace(statement, then=then, otherwise=otherwise),)

    def _loop(self, loop: While | For | RangeLoop, known: Known, *, inside: bool) -> Body:
        init: Body = ()
        step: Body = ()
        if isinstance(loop, For):
            init, step = self.body(loop.init, known, inside=inside), loop.step
        condition = None if isinstance(loop, RangeLoop) else loop.condition
        if condition is not None and self._decided(condition, known) == 0:
            return init
        self._assume(loop, loop.body + step, known)
        body = self.body(loop.body, dict(known), inside=True)
        self._numbering.written()
        if body is loop.body and (not isinstance(loop, For) or init is loop.init):
            return (loop,)
        return (replace(loop, init=init, body=body) if isinstance(loop, For) else replace(loop, body=body),)

    def _assume(self, loop: While | For | RangeLoop, body: Body, known: Known) -> None:
        """Forget what does not hold at the start of every iteration; what is left holds after the loop, too."""
        self._numbering.written()
        iteration = self._numbering.new()
        if isinstance(loop, RangeLoop):
            known[loop.symbol] = iteration
        while self._visits > 0:
            after = dict(known)
            self.body(body, after, inside=True)
            if not self._meet(known, after, body, iteration):
                return
        for symbol in assigned(body):
            known[symbol] = self._numbering.new()

    def _learn(self, known: Known, symbol: Symbol, value: Expr | None) -> None:
        if symbol not in self._deciding:
            if value is not None and acts(value):
                self._numbering.written()
        elif value is None:
            known[symbol] = self._numbering.new()
        else:
            self._numbering.late = False
            known[symbol] = self._numbering.of(value, known)
            if self._numbering.late or names(value) & self._late:
                self._late.add(symbol)

    def _decided(self, condition: Expr, known: Known) -> int | float | None:
        """What a condition is every time, where that is known."""
        if acts(condition):
            self._numbering.written()
            return None
        self._numbering.late = bool(names(condition) & self._late)
        return self._numbering.constant(self._numbering.of(condition, known))

    def _meet(self, known: Known, other: Known, body: Body, place: int) -> bool:
        """Leave in ``known`` what holds in both, after one of two ways through ``body``; whether that is less.

        ``place`` is a number for where they meet. Nodes may stand at several places, so they are none.
        """
        less = False
        for symbol in assigned(body) & self._deciding:
            mine = self._numbering.value_of(symbol, known)
            either = self._numbering.either(place, symbol)
            if mine not in (self._numbering.value_of(symbol, other), either):
                known[symbol] = either
                less = True
        return less
