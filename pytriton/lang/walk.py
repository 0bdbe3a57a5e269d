"""Walking and rebuilding the typed tree, for the passes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeVar

from pytriton.lang.typed import (
    Assign,
    Atomic,
    Body,
    Break,
    Continue,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    Load,
    Name,
    RangeLoop,
    Remark,
    Return,
    Statement,
    Store,
    Symbol,
    While,
)

__all__ = [
    "assigned",
    "assigned_once",
    "bodies",
    "children",
    "expressions",
    "has_memory",
    "map_body",
    "map_expressions",
    "map_statements",
    "names",
    "plain_values",
    "reads",
    "rebuild",
    "same",
    "walk",
    "with_children",
]


_E = TypeVar("_E", bound=Expr)


def children(expr: Expr) -> Iterator[Expr]:
    """The direct operands of an expression, in source order."""
    for name in _EXPR_FIELDS[type(expr)]:
        value = getattr(expr, name)
        if isinstance(value, tuple):
            yield from value
        elif value is not None:
            yield value


def walk(expr: Expr) -> Iterator[Expr]:
    """The expression and everything below it, outermost first, in source order."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        for name in reversed(_EXPR_FIELDS[type(node)]):
            value = getattr(node, name)
            if isinstance(value, tuple):
                pending += reversed(value)
            elif value is not None:
                pending.append(value)


def names(expr: Expr) -> set[Symbol]:
    """The symbols that an expression reads."""
    return {node.symbol for node in walk(expr) if isinstance(node, Name)}


def rebuild(expr: Expr, change: dict[Symbol, Expr]) -> Expr:
    """The expression with symbols replaced; the same object where none occurs."""
    if isinstance(expr, Name):
        return change.get(expr.symbol, expr)
    return with_children(expr, lambda child: rebuild(child, change))


def with_children(expr: _E, change: Callable[[Expr], Expr]) -> _E:
    """The expression with its direct operands changed; the same object where none is."""
    found: dict[str, object] = {}
    for name in _EXPR_FIELDS[type(expr)]:
        value = getattr(expr, name)
        if value is None:
            continue
        if isinstance(value, tuple):
            changed: object = tuple(map(change, value))
            same = all(map(operator.is_, changed, value))  # type: ignore[call-overload]
        else:
            changed = change(value)
            same = changed is value
        if not same:
            found[name] = changed
    return replace(expr, **found) if found else expr  # type: ignore[arg-type]


def bodies(statement: Statement) -> tuple[Body, ...]:
    """The blocks inside a statement."""
    match statement:
        case If():
            return statement.then, statement.otherwise
        case For():
            return statement.init, statement.body, statement.step
        case RangeLoop() | While() | DoWhile():
            return (statement.body,)
        case _:
            return ()


def expressions(body: Body, *, deep: bool = True) -> Iterator[Expr]:
    """Every outermost expression of the statements, in order; with ``deep``, of inner blocks too."""
    for statement in body:
        match statement:
            case Declare(value=value):
                if value is not None:
                    yield value
            case Assign(value=value) | Evaluate(value=value):
                yield value
            case Store():
                yield statement.pointer
                yield statement.value
                if statement.mask is not None:
                    yield statement.mask
            case If(condition=condition) | While(condition=condition) | DoWhile(condition=condition):
                yield condition
            case For(condition=maybe):
                if maybe is not None:
                    yield maybe
            case RangeLoop():
                yield from (statement.start, statement.stop, statement.step)
            case Remark() | Return() | Break() | Continue():
                pass
        if deep:
            for inner in bodies(statement):
                yield from expressions(inner)


def reads(body: Body) -> set[Symbol]:
    """The symbols that the statements read, inner blocks included."""
    return {symbol for expr in expressions(body) for symbol in names(expr)}


def assigned(body: Body) -> set[Symbol]:
    """The symbols that the statements declare or assign, inner blocks included."""
    found: set[Symbol] = set()
    for statement in body:
        if isinstance(statement, Declare | Assign | RangeLoop):
            found.add(statement.symbol)
        for inner in bodies(statement):
            found |= assigned(inner)
    return found


def _expr_fields(node: type) -> tuple[str, ...]:
    """The fields of a node class that hold expressions, as its annotations say."""
    return tuple(f.name for f in fields(node) if f.type in ("Expr", "Expr | None", "tuple[Expr, ...]"))


_EXPR_FIELDS = {node: _expr_fields(node) for node in Expr.__args__}


def assigned_once(body: Body) -> list[Statement]:
    """The declarations and assignments of variables that have no other one."""
    found: dict[Symbol, list[Statement]] = {}
    pending = list(body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, Declare | Assign | RangeLoop):
            found.setdefault(statement.symbol, []).append(statement)
        for inner in bodies(statement):
            pending += inner
    return [statements[0] for statements in found.values() if len(statements) == 1]


def same(left: Expr, right: Expr) -> bool:
    """Whether two expressions are written alike: the same operators on the same symbols."""
    if left is right:
        return True
    if type(left) is not type(right) or left.type != right.type:
        return False
    for name in _PLAIN_FIELDS[type(left)]:
        if getattr(left, name) != getattr(right, name):
            return False
    first, second = list(children(left)), list(children(right))
    return len(first) == len(second) and all(map(same, first, second))


def plain_values(expr: Expr) -> tuple[Any, ...]:
    """What a node holds beside its type, its place and its operands."""
    return tuple(getattr(expr, name) for name in _PLAIN_FIELDS[type(expr)])


def has_memory(expr: Expr) -> bool:
    """Whether an expression reads or writes memory."""
    return any(isinstance(node, Load | Atomic) for node in walk(expr))


def map_expressions(body: Body, change: Callable[[Expr], Expr]) -> Body:
    """The statements with every outermost expression changed; the same object where nothing is."""

    def changed(statement: Statement) -> Statement:
        found: dict[str, Any] = {}
        for name in _STATEMENT_FIELDS[type(statement)]:
            value = getattr(statement, name)
            new = None if value is None else change(value)
            if new is not value:
                found[name] = new
        return replace(statement, **found) if found else statement

    return map_body(body, changed)


def map_statements(body: Body, change: Callable[[Statement], Body]) -> Body:
    """As ``map_body``, where one statement may become several or none."""
    changed = tuple(new for statement in body for new in change(_map_inner(statement, change)))
    same = len(changed) == len(body) and all(map(operator.is_, changed, body))
    return body if same else changed


def map_body(body: Body, change: Callable[[Statement], Statement]) -> Body:
    """The statements changed one by one, inner blocks first; the same object where nothing changed."""
    return map_statements(body, lambda statement: (change(statement),))


def _map_inner(statement: Statement, change: Callable[[Statement], Body]) -> Statement:
    found: dict[str, Any] = {}
    for name in _BODY_FIELDS[type(statement)]:
        inner = getattr(statement, name)
        new = map_statements(inner, change)
        if new is not inner:
            found[name] = new
    return replace(statement, **found) if found else statement


def _plain_fields(node: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(node) if f.name not in ("span", "type", *_EXPR_FIELDS[node]))


_STATEMENT_FIELDS = {node: _expr_fields(node) for node in Statement.__args__}
_PLAIN_FIELDS = {node: _plain_fields(node) for node in Expr.__args__}
_BODY_FIELDS = {node: tuple(f.name for f in fields(node) if f.type == "Body") for node in Statement.__args__}
