"""Operands that Python would have to say twice -> variables of their own.

``max(a, b)`` of floats is ``a > b ? a : b``, which gives b where either is NaN; Triton has no function that does.
So ``max(m, s[:, max])`` becomes ``s_max = tl.max(s, axis=1)`` and ``tl.where(m > s_max, m, s_max)``. Conditions of
loops are left as they are: a variable before the loop would be too early.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType
from pytriton.lang.tree.walk import kinds, map_statements, same, with_children
from pytriton.passes.analysis.context import Context

_MAY_REPEAT = frozenset((typed.Call, typed.Select))


def temporaries(kernel: typed.KernelDef, _: Context) -> typed.KernelDef:
    """``max(m, s[:, max])`` as ``s_max = s[:, max]`` and ``max(m, s_max)``; anything else as it is."""
    body = map_statements(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: typed.Statement) -> typed.Body:
    own = statement.condition if isinstance(statement, typed.If) else getattr(statement, "value", None)
    if own is None or _MAY_REPEAT.isdisjoint(kinds(own)):
        return (statement,)
    declared: list[typed.Declare] = []

    def change(expr: typed.Expr) -> typed.Expr:
        return _without_repeats(expr, declared)

    match statement:
        case typed.Declare(value=value) | typed.Assign(value=value) | typed.Evaluate(value=value) if (
            value is not None
        ):
            changed: typed.Statement = replace(statement, value=change(value))
        case typed.Store(value=value):
            changed = replace(statement, value=change(value))
        case typed.If(condition=condition):
            changed = replace(statement, condition=change(condition))
        case _:
            return (statement,)
    if not declared:
        return (statement,)
    declared[0] = replace(declared[0], comments=replace(statement.comments, beside=()))
    beside = replace(typed.NO_COMMENTS, beside=statement.comments.beside)
    return (*declared, replace(changed, comments=beside))


def _without_repeats(expr: typed.Expr, declared: list[typed.Declare]) -> typed.Expr:
    """The expression with variables for what would be said twice; their declarations are appended."""
    divisor = _said_twice(expr)
    if divisor is not None:
        assert isinstance(expr, typed.Select) and isinstance(expr.condition, typed.Binary)
        name = _variable(_without_repeats(divisor, declared), "divisor", declared)
        return replace(expr, condition=replace(expr.condition, left=name), yes=name)
    expr = with_children(expr, lambda operand: _without_repeats(operand, declared))
    if not isinstance(expr, typed.Call) or expr.function not in ("min", "max"):
        return expr
    element = scalar_of(expr.type)
    if element is None or not element.is_float or all(map(_short, expr.arguments)):
        return expr
    operands = tuple([_variable(operand, _name(operand), declared) for operand in expr.arguments])
    return replace(expr, arguments=operands)


def _variable(operand: typed.Expr, name: str, declared: list[typed.Declare]) -> typed.Expr:
    """A variable for an operand, unless that is short."""
    if _short(operand):
        return operand
    assert isinstance(operand.type, ScalarType | PointerType | BlockType)
    symbol = typed.Symbol(name, operand.type, operand.span)
    declared.append(typed.Declare(operand.span, symbol, operand))
    return typed.Name(operand.span, operand.type, symbol)


def _said_twice(expr: typed.Expr) -> typed.Expr | None:
    """The divisor in ``divisor != 0 ? divisor : 1`` of passes/lower/divisors.py."""
    match expr:
        case typed.Select(condition=typed.Binary(operator="!=", left=left), yes=yes) if same(left, yes):
            return None if _short(yes) else yes
    return None


def _short(operand: typed.Expr) -> bool:
    """Whether an operand may as well be said twice."""
    match operand:
        case typed.Name() | typed.Literal() | typed.Constexpr():
            return True
        case typed.Unary(operand=inner) | typed.Cast(operand=inner):
            return _short(inner)
        case _:
            return False


def _name(operand: typed.Expr) -> str:
    """``s_max`` for the maximum of ``s``, else ``value``."""
    match operand:
        case typed.Reduce(operand=typed.Name(symbol=symbol), operator=operator):
            return f"{symbol.name}_{'sum' if operator == '+' else operator}"
        case _:
            return "value"
