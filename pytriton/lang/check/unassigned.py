"""A warning for each variable that is read where nothing can have been assigned to it (docs/language.md).

Input: the body of a kernel as checked. A read counts only if no assignment reaches it on any path, so that
there is no false alarm: an ``if`` assigns what either branch does, a loop what any iteration of it does.
"""

from __future__ import annotations

from pytriton.errors import Report
from pytriton.lang.tree.typed import Assign, Body, Declare, Expr, For, If, Name, RangeLoop, Statement, Symbol
from pytriton.lang.tree.walk import assigned, bodies, expressions, walk

__all__ = ["warn_of_unassigned"]


def warn_of_unassigned(body: Body, report: Report) -> None:
    """Report each variable once, at its first such read."""
    if _declares_empty(body):
        _Search(report).body(body)


def _declares_empty(body: Body) -> bool:
    """Whether a variable is declared without a value: only of such a one there is anything to say."""
    for statement in body:
        if isinstance(statement, Declare):
            if statement.value is None:
                return True
        elif any(map(_declares_empty, bodies(statement))):
            return True
    return False


class _Search:
    def __init__(self, report: Report) -> None:
        self.report = report
        self._empty: set[Symbol] = set()  # declared, and never assigned so far

    def body(self, body: Body) -> None:
        for statement in body:
            if isinstance(statement, If):
                self._reads(statement.condition)
                before = set(self._empty)
                self.body(statement.then)
                after_then, self._empty = self._empty, before
                self.body(statement.otherwise)
                self._empty &= after_then
            elif isinstance(statement, Assign | Declare):
                self._assign(statement)
            elif bodies(statement):
                self._loop(statement)
            else:
                for expr in expressions((statement,)):
                    self._reads(expr)

    def _assign(self, statement: Assign | Declare) -> None:
        if statement.value is not None:
            self._reads(statement.value)
            self._empty.discard(statement.symbol)
        else:
            self._empty.add(statement.symbol)

    def _loop(self, loop: Statement) -> None:
        """A loop's parts, each of which may run after every other one."""
        if isinstance(loop, For):
            self.body(loop.init)
            self._empty -= assigned(loop.body + loop.step) - assigned(loop.init)
            if loop.condition is not None:
                self._reads(loop.condition)
            self.body(loop.body + loop.step)
            return
        assert not isinstance(loop, RangeLoop)  # made by a pass
        for inner in bodies(loop):
            self._empty -= assigned(inner)
        for expr in expressions((loop,), deep=False):
            self._reads(expr)
        for inner in bodies(loop):
            self.body(inner)

    def _reads(self, expr: Expr) -> None:
        for node in walk(expr):
            if isinstance(node, Name) and node.symbol in self._empty:
                self._empty.discard(node.symbol)
                declared = ("it was declared here, without a value", node.symbol.span)
                message = f"'{node.symbol.name}' is read before it is assigned"
                self.report.warning("TC326", message, node.span, declared)
