"""The condition of an ``#if``, in Python's words -> an expression of the folded kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import reduce
from typing import Final

from pytriton.emit.python import Atom, BinOp, Node, UnaryOp

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
