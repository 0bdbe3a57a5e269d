"""Integer constant expressions, and the notes on the defines in them.

Sizes of blocks, bounds of ranges, axes and the arguments of attributes are constants. Where one is wrong, the
message names the defines that made it so, with their values.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pytriton.lang.check.context import Context, value_of
from pytriton.lang.parse import syntax
from pytriton.lang.tree.convert import constant, integer, scalar_of, wrap
from pytriton.lang.tree.typed import Binary, Call, Cast, Constexpr, Expr, Literal, Name, Select, Size
from pytriton.lang.tree.types import ERROR, INT, Type, shape_of
from pytriton.lang.tree.walk import walk
from pytriton.source import Span

_TRUTHS: Final = frozenset(("<", ">", "<=", ">=", "==", "!=", "&&", "||"))


class IntegerConstant(NamedTuple):
    """An integer constant expression: its value and its typed form."""

    value: int
    expr: Expr


def integer_constant(node: syntax.Expr, what: str, context: Context) -> IntegerConstant | None:
    """An expression that must be an integer constant; ``what`` names it in the message.

    None after an error: TC305, or one in the expression.
    """
    expr = value_of(node, context)
    if expr.type == ERROR:
        return None
    value = constant(expr)
    scalar = scalar_of(expr.type)
    if isinstance(value, int) and scalar is not None and scalar.is_integer:
        return IntegerConstant(value, expr)
    report_not_constant(node, expr, what, context)
    return None


def report_not_constant(node: syntax.Expr, expr: Expr, what: str, context: Context) -> None:
    """Report an expression that is not an integer constant (TC305)."""
    variable = next((part.symbol.name for part in walk(expr) if isinstance(part, Name)), None)
    help_ = f"give '{variable}' in defines instead of as a variable" if variable else None
    value = constant(expr)
    if isinstance(value, float):
        message = f"{what} must be an integer constant, not {value}"
        if isinstance(expr, Constexpr) and value.is_integer():
            help_ = f"give it without a fraction, as in defines={{'{expr.name}': {int(value)}}}"
        report_size(context, "TC305", message, node.span, expr, help=help_)
    else:
        context.report.error("TC305", f"{what} must be an integer constant", node.span, help=help_)


def report_size(
    context: Context, code: str, message: str, span: Span, *exprs: Expr, help: str | None = None
) -> None:
    """Report a wrong size or bound, but only the first one that is the fault of its defines."""
    defines = {name: value for expr in exprs for name, value in _defines(expr).items()}
    if any(blamed <= defines.keys() for blamed in context.blamed):
        return
    if defines:
        context.blamed.append(frozenset(defines))
    context.report.error(code, message, span, *_note(defines), help=help)


def as_size(expr: Expr) -> Expr:
    """An integer constant as a block's size or the bound of a range is printed.

    Triton takes arithmetic on constexprs there, but no conversion, no truth value and no choice: such an expression
    is printed as its number, and so is one of another type than int (``sizeof(float) * 4``).
    """
    if expr.type == INT and not any(map(_is_no_size, walk(expr))):
        return expr
    value = integer(expr)
    return Literal(expr.span, INT, wrap(value, INT))


def _is_no_size(node: Expr) -> bool:
    """Whether a part of an expression keeps Triton from taking it as a size."""
    match node:
        case Select() | Cast() | Call(function="min" | "max"):
            return True
        case Binary(operator=operator):
            return operator in _TRUTHS
        case _:
            return False


# ---------------------------------------------------------------- notes on defines


def defines_note(expr: Expr) -> tuple[str, ...]:
    """The note with the values of the defines in an expression; () where there are none."""
    return _note(_defines(expr))


def shapes_note(*parts: Expr | Type) -> tuple[str, ...]:
    """The note with the values of the defines in the shapes of these types; () where there are none."""
    defines: dict[str, int | float] = {}
    for part in parts:
        for size in shape_of(part if isinstance(part, Type) else part.type):
            if isinstance(size, Size) and size.expr is not None:
                defines |= _defines(size.expr)
    return _note(defines)


def _defines(expr: Expr) -> dict[str, int | float]:
    """The defines in an expression with their values."""
    return {node.name: node.value for node in walk(expr) if isinstance(node, Constexpr)}


def _note(defines: dict[str, int | float]) -> tuple[str, ...]:
    """``TM = 64 and TN = 32 in defines``; nothing for no defines."""
    spelled = [f"{name} = {value}" for name, value in defines.items()]
    if not spelled:
        return ()
    joined = " and ".join([", ".join(spelled[:-1]), spelled[-1]] if spelled[1:] else spelled)
    return (f"{joined} in defines",)
