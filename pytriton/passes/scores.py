"""``s = q @ k * scale`` of which a maximum is taken -> the maximum of the bare product, times the scale.

Attention multiplies each element of a product by a factor only to find the largest of a row and to subtract it. The
factor rarely is anything but a positive number, and then the maximum may be taken first, which is exact: rounding
keeps the order. So in such a loop the variable holds the bare product, ``max_of_product`` (a helper of the module,
which asks for the sign once a turn) takes its maximum, and what is left of the multiplications stands beside the
subtraction, with which the hardware fuses it: one instruction less for each element.

This is done where the scaled product is declared in the loop and read there twice: by a maximum along an axis, and
in a difference, ``exp(s - m)`` as a rule.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytriton.frozen import dataclass, replace
from pytriton.lang.typed import (
    Binary,
    Body,
    Call,
    Declare,
    Dot,
    Expr,
    KernelDef,
    Literal,
    Name,
    RangeLoop,
    Reduce,
    Statement,
    Symbol,
)
from pytriton.lang.types import FLOAT, INT, BlockType
from pytriton.lang.walk import (
    assigned,
    assigned_once,
    bodies,
    children,
    expressions,
    map_body,
    map_expressions,
    with_children,
)

__all__ = ["scores"]


def scores(kernel: KernelDef) -> KernelDef:
    """The kernel with its maxima of scaled products taken first."""
    body = map_body(kernel.body, _statement)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _statement(statement: Statement) -> Statement:
    if not isinstance(statement, RangeLoop) or any(map(bodies, statement.body)):
        return statement
    body = statement.body
    for found in _scaled(body):
        if _suits(body, found):
            body = found.bare(body)
    return statement if body is statement.body else replace(statement, body=body)


@dataclass(frozen=True, slots=True)
class _Scaled:
    """A declaration of a product times a factor."""

    statement: Declare
    product: Dot
    factor: Name

    def bare(self, body: Body) -> Body:
        """The body with the bare product in a variable of its own."""
        symbol = self.statement.symbol
        assert isinstance(symbol.type, BlockType)
        span = self.statement.span
        bare = Name(span, symbol.type, Symbol(f"{symbol.name}_bare", symbol.type, span))

        def changed(expr: Expr) -> Expr:
            match expr:
                case Reduce(operator="max", operand=Name(symbol=read), axis=axis) if read is symbol:
                    where = Literal(expr.span, INT, axis)
                    return Call(expr.span, expr.type, "max_of_product", (bare, self.factor, where))
                case Name(symbol=read) if read is symbol:
                    return Binary(expr.span, symbol.type, "*", bare, self.factor)
            return with_children(expr, changed)

        result: list[Statement] = []
        for statement in body:
            if statement is self.statement:
                result.append(replace(self.statement, symbol=bare.symbol, value=self.product))
            else:
                result += map_expressions((statement,), changed)
        return tuple(result)


def _scaled(body: Body) -> Iterator[_Scaled]:
    """The products times a float that does not change in the loop, of variables that are set once."""
    changing = assigned(body)
    for statement in assigned_once(body):
        if not isinstance(statement, Declare) or not isinstance(statement.value, Binary):
            continue
        value = statement.value
        if value.operator != "*" or value.type != statement.symbol.type:
            continue
        for product, factor in ((value.left, value.right), (value.right, value.left)):
            if not isinstance(product, Dot) or product.type != value.type or factor.type != FLOAT:
                continue
            if isinstance(factor, Name) and factor.symbol not in changing:
                yield _Scaled(statement, product, factor)


def _suits(body: Body, found: _Scaled) -> bool:
    """Whether the variable is read by a maximum and by a difference, and by nothing else."""
    symbol = found.statement.symbol
    maxima = differences = others = 0
    pending = list(expressions(body))
    while pending:
        match pending.pop():
            case Reduce(operator="max", operand=Name(symbol=read)) if read is symbol:
                maxima += 1
            case Binary(operator="-", left=Name(symbol=read), right=subtracted) if read is symbol:
                differences += 1
                pending.append(subtracted)
            case Name(symbol=read) if read is symbol:
                others += 1
            case expr:
                pending += children(expr)
    return maxima == differences == 1 and others == 0
