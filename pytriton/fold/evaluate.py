"""The value of a condition for given defines."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pytriton.emit.python import Atom, BinOp, Conditional, Node, UnaryOp, show

__all__ = ["next_power_of_2", "value_of"]


def next_power_of_2(size: int) -> int:
    return 1 << (size - 1).bit_length()


def value_of(node: Node, values: Mapping[str, object]) -> object:
    """What an expression is for these defines; a name that is none of them is 0, as in an ``#if``.

    Raises ValueError where that cannot be told, and TypeError where it is no value.
    """
    match node:
        case Atom(text=text) if text in values:
            value = values[text]
            return True if value == "" else value
        case Atom(text=text):
            return 0 if text.isidentifier() and text not in ("True", "None") else ast.literal_eval(text)
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
