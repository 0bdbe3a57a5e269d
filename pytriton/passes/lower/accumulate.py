"""``c + a @ b`` -> one accumulating product.

Tensor cores add to an accumulator for free. The two become one only where the other operand has the
product's own type and shape; a converted one (a half accumulator that rounds at each step) is left alone.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree.typed import Assign, Binary, Cast, Declare, Dot, Expr, KernelDef, Statement, Store
from pytriton.lang.tree.types import shape_of
from pytriton.lang.tree.walk import inside, map_body
from pytriton.passes.analysis.context import Context

__all__ = ["accumulate"]


def accumulate(kernel: KernelDef, _: Context) -> KernelDef:
    """``c = c + a @ b`` as ``c = dot(a, b, c)``: the kernel with its sums of products in one."""
    body = map_body(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: Statement) -> Statement:
    if Dot in inside(statement).kinds and isinstance(statement, Assign | Declare | Store):
        assert statement.value is not None
        value = _accumulated(statement.value)
        return statement if value is statement.value else replace(statement, value=value)
    return statement


def _accumulated(expr: Expr) -> Expr:
    match expr:
        case Cast(operand=operand):
            inner = _accumulated(operand)
            return expr if inner is operand else replace(expr, operand=inner)
        case Binary(operator="+", left=left, right=right):
            for product, other in ((right, left), (left, right)):
                if not isinstance(product, Dot) or product.accumulator is not None:
                    continue
                if len(shape_of(product.type)) > 2:
                    continue  # the accumulator would have to be permuted too
                if other.type == expr.type == product.type and not isinstance(other, Cast):
                    return replace(product, accumulator=_accumulated(other))
    return expr
