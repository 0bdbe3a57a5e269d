"""``range(K, 0, -T)`` -> ``range(0, K, T)`` where nothing reads the variable: the same number of turns, plainer."""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.convert import constant
from pytriton.lang.typed import KernelDef, Literal, RangeLoop, Statement
from pytriton.lang.walk import map_body, reads
from pytriton.passes.context import Context
from pytriton.passes.rewrite import negated

__all__ = ["upward"]


def upward(kernel: KernelDef, _: Context) -> KernelDef:
    """The kernel with unused variables that count down to 0 counting up."""
    body = map_body(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, RangeLoop) or (constant(statement.step) or 0) >= 0:
        return statement
    stop = statement.stop
    if not isinstance(stop, Literal) or stop.value != 0 or statement.symbol in reads(statement.body):
        return statement
    return replace(statement, start=stop, stop=statement.start, step=negated(statement.step))
