"""A traced kernel: after each statement a call of ``watched``, with the variable that it set.

Input: a kernel from the checker, before any pass, so that its statements and variables are those of the source.
Output: the same kernel with these calls, and the statement of each. A statement that leaves a block is reported
before it does.
"""

from __future__ import annotations

from typing import NamedTuple

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import INT, VOID, BlockType, PointerType, ScalarType
from pytriton.lang.tree.walk import assigned, with_bodies
from pytriton.passes.memory.provenance import Provenance
from pytriton.source import Span


class Variable(NamedTuple):
    """A variable of the source. ``root``: the parameter that a pointer comes from, if it can only be one."""

    name: str
    type: ScalarType | PointerType | BlockType
    root: str | None


@record
class Step:
    """A statement: the number of the variable that it sets, and those of all variables in scope after it."""

    span: Span
    sets: int | None
    visible: tuple[int, ...]


class Steps(NamedTuple):
    """The statements of the calls in a kernel, and the variables, by number."""

    steps: tuple[Step, ...] = ()
    variables: tuple[Variable, ...] = ()


def watched(kernel: typed.KernelDef) -> tuple[typed.KernelDef, Steps]:
    """The kernel with a call after each statement, and the statements of these."""
    watch = _Watch(kernel)
    scope = {watch.number(symbol): symbol.name for symbol in kernel.parameters if symbol in watch.set}
    body = watch.body(kernel.body, scope)
    return replace(kernel, body=body), Steps(tuple(watch.steps), tuple(watch.variables))


_Scope = dict[
    int, str
]  # variables of the source in the order of their declarations: the last of a name hides others


class _Watch:
    """Watches the statements of one kernel."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self.steps: list[Step] = []
        self.variables: list[Variable] = []
        self._numbers: dict[typed.Symbol, int] = {}
        self.set = assigned(kernel.body)
        self._provenance = Provenance(kernel)

    def number(self, symbol: typed.Symbol) -> int:
        """The number of a variable."""
        if symbol not in self._numbers:
            root = self._provenance.only_root(typed.Name(symbol.span, symbol.type, symbol))
            self._numbers[symbol] = len(self.variables)
            self.variables.append(Variable(symbol.name, symbol.type, None if root is None else root.name))
        return self._numbers[symbol]

    def body(self, body: typed.Body, scope: _Scope) -> typed.Body:
        """The statements of a block, which has a scope of its own."""
        return self._within(body, dict(scope))

    def _within(self, body: typed.Body, scope: _Scope) -> typed.Body:
        return tuple([inner for statement in body for inner in self._statement(statement, scope)])

    def _statement(self, statement: typed.Statement, scope: _Scope) -> typed.Body:
        match statement:
            case typed.Remark(ends=ends):
                for symbol in ends:
                    scope.pop(self.number(symbol), None)
                return (statement,)
            case typed.Declare(symbol=symbol) | typed.Assign(symbol=symbol) if not symbol.declaration:
                return (statement,)  # the translator's own
            case typed.Declare(symbol=symbol, value=value):
                scope[self.number(symbol)] = symbol.name
                return (statement,) if value is None else (statement, self._step(statement, scope, symbol))
            case typed.Assign(symbol=symbol):
                return statement, self._step(statement, scope, symbol)
            case typed.Store() | typed.Evaluate():
                return statement, self._step(statement, scope)
            case typed.Return() | typed.Break() | typed.Continue():
                return self._step(statement, scope), statement
            case typed.For(init=init, body=body, step=step):
                inner = dict(scope)
                first = self._within(init, inner)
                return (
                    replace(statement, init=first, body=self.body(body, inner), step=self.body(step, inner)),
                )
            case _:
                return (with_bodies(statement, lambda body: self.body(body, scope)),)

    def _step(
        self, statement: typed.Statement, scope: _Scope, symbol: typed.Symbol | None = None
    ) -> typed.Evaluate:
        """The call that reports a statement."""
        span, number = statement.span, typed.Literal(statement.span, INT, len(self.steps))
        sets = None if symbol is None else self.number(symbol)
        visible = {name: number for number, name in scope.items()}
        self.steps.append(Step(span, sets, tuple(visible.values())))
        values = () if symbol is None else (typed.Name(span, symbol.type, symbol),)
        return typed.Evaluate(span, typed.Call(span, VOID, "watched", (number, *values)))
