"""Small queries on nodes and kernels that several passes share."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import INT, BlockType
from pytriton.lang.tree.walk import (
    assigned,
    assigned_once,
    children,
    expressions,
    kinds,
    kinds_in,
    names,
    plain_values,
    statements,
    walk,
)

Values = dict[typed.Symbol, list[typed.Expr]]
_Node = TypeVar("_Node", bound=typed.Expr)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
_WithBody = TypeVar(
    "_WithBody", bound=typed.KernelDef | typed.For | typed.RangeLoop | typed.While | typed.DoWhile
)


class Once(Generic[_Key, _Value]):
    """A cache of a function's results by node identity; it keeps the nodes alive, so that ids stay unique.

    The function is an argument of each call: stored here, a bound method would make a reference cycle.
    """

    def __init__(self) -> None:
        self._entries: dict[int, tuple[_Key, _Value]] = {}

    def __call__(self, function: Callable[[_Key], _Value], node: _Key) -> _Value:
        entry = self._entries.get(id(node))
        if entry is None:
            entry = self._entries[id(node)] = (node, function(node))
        return entry[1]


def alike(left: typed.Expr, right: typed.Expr) -> bool:
    """Whether two nodes are the same operation, operands aside."""
    if type(left) is not type(right) or left.type != right.type:
        return False
    return plain_values(left) == plain_values(right) and len(children(left)) == len(children(right))


def acts(expr: typed.Expr) -> bool:
    """Whether an expression has an effect beside its value."""
    return typed.Atomic in kinds(expr)


def has_load(expr: typed.Expr) -> bool:
    """Whether an expression reads memory."""
    return typed.Load in kinds(expr)


def larger_than(expr: typed.Expr, limit: int) -> bool:
    """Whether an expression has more nodes than the limit."""
    pending, count = [expr], 0
    while pending and count <= limit:
        pending += children(pending.pop())
        count += 1
    return count > limit


def multiplies(body: typed.Body) -> bool:
    """Whether statements, or those inside them, multiply matrices."""
    return typed.Dot in kinds_in(body)


def nodes(body: typed.Body, kind: type[_Node]) -> list[_Node]:
    """Every expression of one class in the statements, inner blocks included, in source order."""
    return [
        node
        for expr in expressions(body)
        if kind in kinds(expr)
        for node in walk(expr)
        if isinstance(node, kind)
    ]


def orders_memory(body: typed.Body) -> bool:
    """Whether the statements contain an atomic or a barrier."""
    inside = kinds_in(body)
    if typed.Atomic in inside or typed.Call not in inside:  # the usual case, cached with the statements
        return typed.Atomic in inside
    return any(call.function == "barrier" for call in nodes(body, typed.Call))


def assignments(body: typed.Body) -> list[tuple[typed.Symbol, typed.Expr]]:
    """The assignments of the statements, inner blocks included, in source order."""
    return [
        (statement.symbol, statement.value)
        for statement in statements(body)
        if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None
    ]


def values_of(body: typed.Body) -> Values:
    """All values that are assigned to each variable."""
    values: Values = {}
    for symbol, value in assignments(body):
        values.setdefault(symbol, []).append(value)
    return values


def sources(exprs: Iterable[typed.Expr], values: Values) -> set[typed.Symbol]:
    """The variables that expressions read, and those that they are computed from."""
    pending, read = list(exprs), set[typed.Symbol]()
    while pending:
        new = names(pending.pop()) - read
        read |= new
        for symbol in new:
            pending += values.get(symbol, ())
    return read


def counting(loop: typed.RangeLoop) -> tuple[int, typed.Expr] | None:
    """The step and the bound of a loop of ints from 0 up to that bound, or, with a step below 0, from it to 0."""
    step = constant(loop.step)
    if not isinstance(step, int) or loop.symbol.type != INT:
        return None
    zero, bound = (loop.start, loop.stop) if step > 0 else (loop.stop, loop.start)
    return (step, bound) if constant(zero) == 0 else None


def set_once(body: typed.Body) -> dict[typed.Symbol, typed.Expr]:
    """The values of the variables that are declared with one and never assigned another."""
    return {
        statement.symbol: statement.value
        for statement in assigned_once(body)
        if isinstance(statement, typed.Declare) and statement.value is not None
    }


def never_set(kernel: typed.KernelDef) -> set[typed.Symbol]:
    """The parameters that are never assigned."""
    return set(kernel.parameters) - assigned(kernel.body)


def unless_changed(body: typed.Body, result: Sequence[typed.Statement]) -> typed.Body:
    """The statements that a pass made of a body; the body itself if none changed."""
    same = len(result) == len(body) and all(map(operator.is_, result, body))
    return body if same else tuple(result)


def with_body(node: _WithBody, body: typed.Body) -> _WithBody:
    """A kernel or a loop with another body; the same object if the body is its own."""
    return node if body is node.body else replace(node, body=body)


def negated(expr: typed.Expr) -> typed.Expr:
    """Minus a number."""
    if isinstance(expr, typed.Literal):
        return typed.Literal(expr.span, expr.type, -expr.value)
    if isinstance(expr, typed.Unary) and expr.operator == "-":
        return expr.operand
    return typed.Unary(expr.span, expr.type, "-", expr)


Constants = dict[typed.Symbol, typed.Expr]


def constants(kernel: typed.KernelDef) -> Constants:
    """The constant expression of each such variable, in the variable's own type."""
    return {
        symbol: value
        for symbol, value in set_once(kernel.body).items()
        if not isinstance(symbol.type, BlockType) and constant(value) is not None
    }
