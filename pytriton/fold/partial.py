"""Conditions of ``#if`` as expressions, and their values for given defines; a folded body for given constexprs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from typing import Final

from pytriton.emit.python import Atom, BinOp, Block, Call, Conditional, Node, Simple, Statement, UnaryOp, show
from pytriton.fold.walk import children, rebuilt, walk


def next_power_of_2(size: int) -> int:
    return 1 << (size - 1).bit_length()


_literal = cache(ast.literal_eval)


def value_of(node: Node, values: Mapping[str, object]) -> object:
    """What an expression is for these defines; a name that is none of them is 0, as in an ``#if``.

    Raises ValueError where that is not known, and TypeError where it is no value.
    """
    match node:
        case Atom(text=text) if text in values:
            value = values[text]
            return True if value == "" else value
        case Atom(text=text):
            return 0 if text.isidentifier() and text not in ("True", "None") else _literal(text)
        case UnaryOp(operator="not", operand=operand):
            return not value_of(operand, values)
        case BinOp(operator="and", left=left, right=right):
            return value_of(left, values) and value_of(right, values)
        case BinOp(operator="or", left=left, right=right):
            return value_of(left, values) or value_of(right, values)
        case BinOp(operator=operator, left=left, right=right):
            return _computed(operator, value_of(left, values), value_of(right, values))
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return value_of(then if value_of(condition, values) else otherwise, values)
    raise ValueError(show(node))


def _computed(operator: str, left: object, right: object) -> object:
    if operator == "==":
        return left == right
    if operator == "!=":
        return left != right
    if operator in ("is", "is not"):
        return (left is right) is (operator == "is")
    if not isinstance(left, int | float) or not isinstance(right, int | float):
        raise ValueError(f"{left} {operator} {right}")
    match operator:
        case "<":
            return left < right
        case ">":
            return left > right
        case "<=":
            return left <= right
        case ">=":
            return left >= right
        case "*":
            return left * right
    raise ValueError(operator)


def specialised(body: Sequence[Statement], values: Mapping[str, object]) -> tuple[Statement, ...]:
    """The statements that are left for these constexprs, without comments."""
    constexprs = dict(values)
    return tuple(_specialised(body, constexprs))


def _specialised(body: Sequence[Statement], values: dict[str, object]) -> Iterator[Statement]:
    for statement in body:
        if statement.node is None:
            if statement.before:
                yield Simple(statement.before, None)
            continue
        node = _chosen(statement.node, values)
        if isinstance(statement, Block) and statement.before == "if " and _is_decided(node, values):
            yield from _specialised(statement.body if value_of(node, values) else statement.otherwise, values)
        elif isinstance(statement, Block):
            inner, otherwise = (tuple(_specialised(p, values)) for p in (statement.body, statement.otherwise))
            yield Block(statement.before, node, inner, otherwise)
        else:
            yield Simple(statement.before, node)
            match node:  # TN_PADDED: tl.constexpr = triton.next_power_of_2(TN)
                case Call(function="triton.next_power_of_2", arguments=(Atom(text=name),)):
                    if isinstance(size := values.get(name), int) and size > 0:
                        values[statement.before.partition(":")[0]] = next_power_of_2(size)


def _chosen(node: Node, values: Mapping[str, object]) -> Node:
    """The expression without choices that defines decide."""
    if isinstance(node, Conditional) and _is_decided(node.condition, values):
        chosen = node.then if value_of(node.condition, values) else node.otherwise
        return _chosen(chosen, values)
    return rebuilt(node, [_chosen(child, values) for child in children(node)])


def _is_decided(node: Node, values: Mapping[str, object]) -> bool:
    """Whether these values decide a condition."""
    atoms = [part.text for part in walk(node) if isinstance(part, Atom)]
    if not all(
        text in values or text in ("True", "False", "None") or not text.isidentifier() for text in atoms
    ):
        return False
    try:
        value_of(node, values)
    except (ValueError, TypeError, SyntaxError):
        return False
    return True


_OPERATORS: Final[Mapping[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.And: "and",
    ast.Or: "or",
    ast.Not: "not",
    ast.USub: "-",
}


def expression(text: str) -> Node:
    """Raises SyntaxError for what is not an expression, or has operators that a condition here cannot have."""
    try:
        return _node(ast.parse(text, mode="eval").body)
    except KeyError as error:
        raise SyntaxError(f"{text}: {error}") from None


def _node(expr: ast.expr) -> Node:
    match expr:
        case ast.Name(id=name):
            return Atom(name)
        case ast.Constant(value=value):
            return Atom(repr(value))
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return Atom(f"-{value!r}")
        case ast.UnaryOp(op=operator, operand=operand):
            return UnaryOp(_OPERATORS[type(operator)], _node(operand))
        case ast.BinOp(left=left, op=operator, right=right):
            return BinOp(_OPERATORS[type(operator)], _node(left), _node(right))
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return BinOp(_OPERATORS[type(operator)], _node(left), _node(right))
        case ast.BoolOp(op=operator, values=values):
            return reduce(
                lambda left, right: BinOp(_OPERATORS[type(operator)], left, right), map(_node, values)
            )
    raise SyntaxError(ast.unparse(expr))
