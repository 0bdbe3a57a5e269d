"""Small questions about nodes, for the passes that take code apart."""

from __future__ import annotations

from pytriton.lang.typed import (
    Body,
    Dot,
    Expr,
    Literal,
    Load,
    Unary,
)
from pytriton.lang.walk import children, kinds, kinds_in, plain_values

__all__ = ["alike", "has_load", "larger_than", "multiplies", "negated"]


def alike(left: Expr, right: Expr) -> bool:
    """Whether two nodes do the same, if their operands are the same."""
    if type(left) is not type(right) or left.type != right.type:
        return False
    return plain_values(left) == plain_values(right) and len(children(left)) == len(children(right))


def has_load(expr: Expr) -> bool:
    """Whether an expression reads memory."""
    return Load in kinds(expr)


def larger_than(expr: Expr, limit: int) -> bool:
    """Whether an expression has more nodes than that."""
    pending, count = [expr], 0
    while pending and count <= limit:
        pending += children(pending.pop())
        count += 1
    return count > limit


def multiplies(body: Body) -> bool:
    """Whether statements, or those inside them, multiply matrices."""
    return Dot in kinds_in(body)


def negated(expr: Expr) -> Expr:
    """Minus a number."""
    if isinstance(expr, Literal):
        return Literal(expr.span, expr.type, -expr.value)
    if isinstance(expr, Unary) and expr.operator == "-":
        return expr.operand
    return Unary(expr.span, expr.type, "-", expr)
