"""Conditions of ``#if`` as expressions, and their values for given defines; a folded body for given constexprs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, reduce
from types import CodeType
from typing import Final

from pytriton.emit.python import Atom, BinOp, Block, Call, Conditional, Node, Simple, Statement, UnaryOp, show
from pytriton.fold.walk import children, rebuilt

# where defines do not tell
UNDECIDED: Final = (NameError, TypeError, ValueError, AttributeError, ArithmeticError, SyntaxError)


@cache
def _code(condition: Node) -> CodeType:
    return compile(show(condition), "<condition>", "eval")


class RecordedValues(dict[str, object]):
    """Values of defines. ``asked``: those that conditions have looked up."""

    def __init__(self, values: Mapping[str, object]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> object:
        self.asked.add(name)
        value = super().__getitem__(name)
        return True if value == "" else value


def value_of(condition: Node, values: RecordedValues) -> object:
    """What Python computes for these defines. Raises an error of Python where it has no value."""
    return eval(_code(condition), {"__builtins__": {}}, values)


def specialised(body: Sequence[Statement], values: RecordedValues) -> tuple[Statement, ...]:
    """The statements that are left for these constexprs, without comments."""
    return tuple(_specialised(body, values))


def _specialised(body: Sequence[Statement], values: RecordedValues) -> Iterator[Statement]:
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
                        values[statement.before.partition(":")[0]] = 1 << (size - 1).bit_length()


def _chosen(node: Node, values: RecordedValues) -> Node:
    """The expression without choices that defines decide."""
    if isinstance(node, Conditional) and _is_decided(node.condition, values):
        chosen = node.then if value_of(node.condition, values) else node.otherwise
        return _chosen(chosen, values)
    return rebuilt(node, [_chosen(child, values) for child in children(node)])


def _is_decided(node: Node, values: RecordedValues) -> bool:
    """Whether these values decide a condition."""
    with suppress(*UNDECIDED):
        value_of(node, values)
        return True
    return False


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
