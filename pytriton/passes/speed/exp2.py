"""``exp`` in a loop with a matrix product -> ``exp2``, which is the one that the hardware has.

Triton's ``exp(x)`` of float is the hardware's ``exp2`` of ``x * log2(e)``, with three more instructions around it
that keep results below 2^-126, the subnormal ones; its ``exp2`` takes those for 0. Where a loop multiplies
matrices, the tensor cores wait for what else is computed in it, and an exponential for each element of a product is
most of that (attention: a fifth of the time). So there ``exp(x)`` is written ``exp2(x * log2(e))``: the same
numbers, infinities and NaN, and on a GPU 0 for what is below 2^-126.

Gain: attention on an H200 with Triton 3.6, 351 TFLOP/s for 322 at head size 64, 395 for 313 at 128; with peel.py
385 and 451 (benchmarks/NOTES.md).
Switch: its row in ``PASSES``.
Try without it: with every Triton after 3.6; newer ones are not measured yet.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.tree.typed import (
    Binary,
    Call,
    Dot,
    Expr,
    For,
    KernelDef,
    Literal,
    RangeLoop,
    Statement,
    While,
)
from pytriton.lang.tree.types import FLOAT, element_of
from pytriton.lang.tree.walk import kinds, kinds_in, map_body, map_expressions, with_children
from pytriton.passes.analysis.context import Context

__all__ = ["LOG2_E", "exp2"]

LOG2_E = 1.4426950408889634


def exp2(kernel: KernelDef, _: Context) -> KernelDef:
    """``exp(s)`` in a loop with a product as ``exp2(s * 1.4426950408889634)``; anything else as it is."""
    body = map_body(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, RangeLoop | For | While) or not {Call, Dot} <= kinds_in(statement.body):
        return statement
    body = map_expressions(statement.body, lambda expr: _expr(expr) if Call in kinds(expr) else expr)
    return statement if body is statement.body else replace(statement, body=body)


def _expr(expr: Expr) -> Expr:
    expr = with_children(expr, _expr)
    if not isinstance(expr, Call) or expr.function != "exp" or element_of(expr.type) != FLOAT:
        return expr
    (argument,) = expr.arguments
    factor = Literal(expr.span, FLOAT, LOG2_E, weak=True)
    return replace(expr, function="exp2", arguments=(Binary(expr.span, expr.type, "*", argument, factor),))
