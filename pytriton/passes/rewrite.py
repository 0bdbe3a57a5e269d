"""Small questions about nodes, for the passes that take code apart."""

from __future__ import annotations

from dataclasses import fields

from pytriton.lang.typed import (
    Body,
    Dot,
    Expr,
    Literal,
    Load,
    Unary,
)
from pytriton.lang.walk import children, kinds, kinds_in

__all__ = ["alike", "has_load", "larger_than", "multiplies", "negated"]


def alike(left: Expr, right: Expr) -> bool:
    """Whether two nodes do the same, if their operands are the same."""
    if type(left) is not type(right) or left.type != right.type:
        return False
    if any(getattr(left, name) != getattr(right, name) for name in _PLAIN[type(left)]):
        return False
    return len(children(left)) == len(children(right))


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


def _plain(node: type) -> tuple[str, ...]:
    operands = ("Expr", "Expr | None", "tuple[Expr, ...]")
    return tuple(f.name for f in fields(node) if f.name not in ("span", "type") and f.type not in operands)


_PLAIN = {node: _plain(node) for node in Expr.__args__}
