"""Operands that Python would have to say twice -> variables of their own.

``max(a, b)`` of floats is ``a > b ? a : b``, which gives b where either is NaN; Triton has no function that does.
So ``max(m, s[:, max])`` becomes ``s_max = tl.max(s, axis=1)`` and ``tl.where(m > s_max, m, s_max)``. Conditions of
loops are left as they are: a variable before the loop would be too early.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.typed import (
    NO_COMMENTS,
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Constexpr,
    Declare,
    Evaluate,
    Expr,
    If,
    KernelDef,
    Literal,
    Name,
    Reduce,
    Select,
    Statement,
    Store,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType
from pytriton.lang.tree.walk import kinds, map_statements, same, with_children
from pytriton.passes.analysis.context import Context

__all__ = ["temporaries"]

_MAY_REPEAT = frozenset((Call, Select))


def temporaries(kernel: KernelDef, _: Context) -> KernelDef:
    """``max(m, s[:, max])`` as ``s_max = s[:, max]`` and ``max(m, s_max)``; anything else as it is."""
    body = map_statements(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: Statement) -> Body:
    own = statement.condition if isinstance(statement, If) else getattr(statement, "value", None)
    if own is None or _MAY_REPEAT.isdisjoint(kinds(own)):
        return (statement,)
    declared: list[Declare] = []

    def change(expr: Expr) -> Expr:
        return _without_repeats(expr, declared)

    match statement:
        case Declare(value=value) | Assign(value=value) | Evaluate(value=value) if value is not None:
            changed: Statement = replace(statement, value=change(value))
        case Store(value=value):
            changed = replace(statement, value=change(value))
        case If(condition=condition):
            changed = replace(statement, condition=change(condition))
        case _:
            return (statement,)
    if not declared:
        return (statement,)
    declared[0] = replace(declared[0], comments=replace(statement.comments, beside=()))
    beside = replace(NO_COMMENTS, beside=statement.comments.beside)
    return (*declared, replace(changed, comments=beside))


def _without_repeats(expr: Expr, declared: list[Declare]) -> Expr:
    """The expression with variables for what would be said twice; their declarations are appended."""
    divisor = _said_twice(expr)
    if divisor is not None:
        assert isinstance(expr, Select) and isinstance(expr.condition, Binary)
        name = _variable(_without_repeats(divisor, declared), "divisor", declared)
        return replace(expr, condition=replace(expr.condition, left=name), yes=name)
    expr = with_children(expr, lambda operand: _without_repeats(operand, declared))
    if not isinstance(expr, Call) or expr.function not in ("min", "max"):
        return expr
    element = scalar_of(expr.type)
    if element is None or not element.is_float or all(map(_short, expr.arguments)):
        return expr
    operands = tuple([_variable(operand, _name(operand), declared) for operand in expr.arguments])
    return replace(expr, arguments=operands)


def _variable(operand: Expr, name: str, declared: list[Declare]) -> Expr:
    """A variable for an operand, unless that is short."""
    if _short(operand):
        return operand
    assert isinstance(operand.type, ScalarType | PointerType | BlockType)
    symbol = Symbol(name, operand.type, operand.span)
    declared.append(Declare(operand.span, symbol, operand))
    return Name(operand.span, operand.type, symbol)


def _said_twice(expr: Expr) -> Expr | None:
    """The divisor in ``divisor != 0 ? divisor : 1`` of passes/lower/divisors.py."""
    match expr:
        case Select(condition=Binary(operator="!=", left=left), yes=yes) if same(left, yes):
            return None if _short(yes) else yes
    return None


def _short(operand: Expr) -> bool:
    """Whether an operand may as well be said twice."""
    match operand:
        case Name() | Literal() | Constexpr():
            return True
        case Unary(operand=inner) | Cast(operand=inner):
            return _short(inner)
        case _:
            return False


def _name(operand: Expr) -> str:
    """``s_max`` for the maximum of ``s``, else ``value``."""
    match operand:
        case Reduce(operand=Name(symbol=symbol), operator=operator):
            return f"{symbol.name}_{'sum' if operator == '+' else operator}"
        case _:
            return "value"
