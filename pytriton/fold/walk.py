"""Walks over the expressions and statements of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytriton.emit.python import (
    BinOp,
    Block,
    Call,
    Conditional,
    Index,
    Method,
    Node,
    Statement,
    Tuple,
    UnaryOp,
)

__all__ = ["children", "form", "rebuilt", "statements", "walk"]


def children(node: Node) -> tuple[Node, ...]:
    """The operands of an expression, in order."""
    match node:
        case BinOp(left=left, right=right):
            return left, right
        case UnaryOp(operand=operand) | Index(operand=operand):
            return (operand,)
        case Call(arguments=arguments, keywords=keywords):
            return (*arguments, *(value for _, value in keywords))
        case Method(operand=operand, arguments=arguments):
            return operand, *arguments
        case Tuple(items=items):
            return items
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return condition, then, otherwise
    return ()


def rebuilt(node: Node, operands: list[Node]) -> Node:
    """The same expression over other operands."""
    match node:
        case BinOp(operator=operator):
            return BinOp(operator, *operands)
        case UnaryOp(operator=operator):
            return UnaryOp(operator, *operands)
        case Index(items=items):
            return Index(operands[0], items)
        case Call(function=function, arguments=arguments, keywords=keywords):
            count = len(arguments)
            named = zip(keywords, operands[count:], strict=True)
            return Call(function, tuple(operands[:count]), tuple((name, value) for (name, _), value in named))
        case Method(name=name):
            return Method(operands[0], name, tuple(operands[1:]))
        case Tuple():
            return Tuple(tuple(operands))
        case Conditional():
            return Conditional(*operands)
    return node


def form(node: Node) -> object:
    """What two expressions must share to be compared operand by operand."""
    match node:
        case BinOp(operator=operator) | UnaryOp(operator=operator):
            return type(node), operator
        case Index(items=items):
            return Index, items
        case Call(function=function, arguments=arguments, keywords=keywords):
            return Call, function, len(arguments), tuple(name for name, _ in keywords)
        case Method(name=name, arguments=arguments):
            return Method, name, len(arguments)
        case Tuple(items=items):
            return Tuple, len(items)
        case Conditional():
            return Conditional
    return node


def walk(node: Node) -> Iterator[Node]:
    """The expression and every part of it."""
    yield node
    for child in children(node):
        yield from walk(child)


def statements(body: Iterable[Statement]) -> Iterator[Statement]:
    """Every statement of a body, those of the blocks inside it included."""
    for statement in body:
        yield statement
        if isinstance(statement, Block):
            yield from statements(statement.body)
            yield from statements(statement.otherwise)
