"""Small questions about nodes and about kernels, for the passes that take code apart."""

from __future__ import annotations

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Body, Declare, Dot, Expr, KernelDef, Literal, Load, Symbol, Unary
from pytriton.lang.tree.types import BlockType
from pytriton.lang.tree.walk import assigned_once, children, kinds, kinds_in, plain_values, statements

__all__ = ["Constants", "alike", "constants", "has_load", "larger_than", "multiplies", "negated"]


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


Constants = dict[Symbol, Expr]


def constants(kernel: KernelDef) -> Constants:
    """The constant expression of each such variable, in the variable's own type."""
    found = {
        statement.symbol: statement.value
        for statement in statements(kernel.body)
        if isinstance(statement, Declare)
        and statement.value is not None
        and not isinstance(statement.symbol.type, BlockType)
        and constant(statement.value) is not None
    }
    once = assigned_once(kernel.body) if found else []
    return {
        statement.symbol: found[statement.symbol]
        for statement in once
        if isinstance(statement, Declare) and statement.symbol in found
    }
