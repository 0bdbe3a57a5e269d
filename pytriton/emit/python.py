"""A small tree of Python expressions, and how it is printed.

Input: a ``Node``. Output: text with just the parentheses that Python needs (one precedence table; the right
operand of a left-associative operator is printed one level tighter), broken over lines where 88 columns are
too few in the way ``ruff format`` breaks them, so that it leaves generated modules alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = [
    "PRECEDENCE",
    "Atom",
    "BinOp",
    "Call",
    "Index",
    "Method",
    "Node",
    "Tuple",
    "UnaryOp",
    "layout",
    "show",
]

WIDTH: Final = 88

PRECEDENCE: Final = {
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!="), 4),
    "|": 5,
    "^": 6,
    "&": 7,
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "//", "%"), 10),
    "unary": 11,
}
_COMPARISON: Final = 4
_POSTFIX: Final = 13


@dataclass(frozen=True, slots=True)
class Atom:
    """A name or a number; a negative number binds like a unary minus."""

    text: str


@dataclass(frozen=True, slots=True)
class BinOp:
    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class UnaryOp:
    """``-`` ``~`` or ``not``"""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """``operand.name(arguments)``"""

    operand: Node
    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Index:
    """``operand[items]``, the items as text: ``:, None``."""

    operand: Node
    items: str


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Node, ...]


Node = Atom | BinOp | UnaryOp | Call | Method | Index | Tuple


def show(node: Node, level: int = 0) -> str:
    """The node on one line; in parentheses if it binds looser than ``level``."""
    text = _flat(node)
    return f"({text})" if _level(node) < level else text


def _level(node: Node) -> int:
    match node:
        case Atom(text=text):
            return PRECEDENCE["unary"] if text.startswith("-") else _POSTFIX
        case BinOp(operator=operator):
            return PRECEDENCE[operator]
        case UnaryOp(operator=operator):
            return PRECEDENCE["not" if operator == "not" else "unary"]
        case _:
            return _POSTFIX


def _flat(node: Node) -> str:
    match node:
        case Atom(text=text):
            return text
        case BinOp(operator=operator, left=left, right=right):
            level = PRECEDENCE[operator]
            first = show(left, level + (level == _COMPARISON))
            return f"{first} {operator} {show(right, level + 1)}"
        case UnaryOp(operator="not", operand=operand):
            return f"not {show(operand, PRECEDENCE['not'])}"
        case UnaryOp(operator=operator, operand=operand):
            return f"{operator}{show(operand, PRECEDENCE['unary'])}"
        case Call():
            return f"{node.function}({', '.join(_arguments(node))})"
        case Method(operand=operand, name=name, arguments=arguments):
            return f"{show(operand, _POSTFIX)}.{name}({', '.join(map(_flat, arguments))})"
        case Index(operand=operand, items=items):
            return f"{show(operand, _POSTFIX)}[{items}]"
        case Tuple(items=items):
            inner = ", ".join(map(_flat, items))
            return f"({inner},)" if len(items) == 1 else f"({inner})"


def _arguments(node: Call) -> list[str]:
    keywords = [f"{name}={_flat(value)}" for name, value in node.keywords]
    return [*map(_flat, node.arguments), *keywords]


# ---------------------------------------------------------------- lines


def layout(before: str, node: Node, after: str, indent: int) -> list[str]:
    """``before node after`` as lines, indented by ``indent`` columns, broken where it is too long."""
    pad = " " * indent
    line = f"{pad}{before}{_flat(node)}{after}"
    if len(line) <= WIDTH:
        return [line]
    if isinstance(node, Call):
        return _broken_call(f"{pad}{before}", node, after, indent)
    if isinstance(node, Method) and isinstance(node.operand, Atom | Call):
        arguments = ", ".join(map(_flat, node.arguments))
        head = f"{pad}{before}{_flat(node.operand)}.{node.name}("
        if len(head) <= WIDTH:
            return [head, " " * (indent + 4) + arguments, f"{pad}){after}"]
        if isinstance(node.operand, Call):
            return _broken_call(f"{pad}{before}", node.operand, f".{node.name}({arguments}){after}", indent)
    if isinstance(node, BinOp):
        bare = _without_parentheses(f"{pad}{before}", node, after, indent)
        if bare is not None:
            return bare
    if isinstance(node, BinOp | UnaryOp | Method):
        return [f"{pad}{before}(", *_operands(node, indent + 4), f"{pad}){after}"]
    return [line]


def _without_parentheses(head: str, node: BinOp, after: str, indent: int) -> list[str] | None:
    """An expression that is broken inside brackets of its own, at its very start or end.

    As ruff does where its loosest operator occurs once: ``(a + ...) * b`` and ``a + f(...)`` need no further
    parentheses. None where that does not fit.
    """
    level = PRECEDENCE[node.operator]
    left, right = node.left, node.right
    if isinstance(left, BinOp) and PRECEDENCE[left.operator] == level:
        return None
    if isinstance(right, Call) and right.arguments:
        start = f"{head}{_flat(node)[: -len(_flat(right))]}"
        if len(start) + len(right.function) + 1 <= WIDTH:
            return _broken_call(start, right, after, indent)
    first: Node = node
    while isinstance(first, BinOp) and isinstance(first.left, BinOp):
        inner = first.left
        first = inner
        if PRECEDENCE[inner.operator] < PRECEDENCE[_above(node, inner).operator]:
            rest = _flat(node)[len(_flat(inner)) + 2 :]
            last = f"{' ' * indent}){rest}{after}"
            return [f"{head}(", *_operands(inner, indent + 4), last] if len(last) <= WIDTH else None
    return None


def _above(node: BinOp, inner: BinOp) -> BinOp:
    """The operator whose left operand is ``inner``."""
    while node.left is not inner:
        assert isinstance(node.left, BinOp)
        node = node.left
    return node


def _broken_call(head: str, node: Call, after: str, indent: int) -> list[str]:
    """A call with its arguments on the next line, or one a line if they do not fit there."""
    pad, inner = " " * indent, " " * (indent + 4)
    together = inner + ", ".join(_arguments(node))
    if len(together) <= WIDTH:
        return [f"{head}{node.function}(", together, f"{pad}){after}"]
    lines = [f"{head}{node.function}("]
    for argument in node.arguments:
        lines += (
            layout("", argument, ",", indent + 4) if _breaks(argument) else _operand_lines(argument, indent)
        )
    for name, value in node.keywords:
        lines += layout(f"{name}=", value, ",", indent + 4)
    return [*lines, f"{pad}){after}"]


def _breaks(node: Node) -> bool:
    return isinstance(node, Call | Atom | Index | Tuple)


def _operand_lines(node: Node, indent: int) -> list[str]:
    """An argument that is an operator expression: bare, its operands one a line."""
    lines = _operands(node, indent + 4)
    return [*lines[:-1], lines[-1] + ","]


def _operands(node: Node, indent: int) -> list[str]:
    """An expression on one line, or its loosest operators one a line, operator first."""
    pad = " " * indent
    line = pad + _flat(node)
    if len(line) <= WIDTH or not isinstance(node, BinOp):
        return [line]
    level = PRECEDENCE[node.operator]
    parts: list[tuple[str, Node]] = []
    current: Node = node
    while isinstance(current, BinOp) and PRECEDENCE[current.operator] == level:
        parts.append((current.operator + " ", current.right))
        current = current.left
        if level == _COMPARISON:  # Python would read a row of them as a chain: a < b and b < c
            break
    parts.append(("", current))
    lines: list[str] = []
    for operator, operand in reversed(parts):
        tight = level + (operator != "" or level == _COMPARISON)
        if _level(operand) < tight:
            text = f"{pad}{operator}({_flat(operand)})"
            if len(text) > WIDTH:
                lines += [f"{pad}{operator}(", *_operands(operand, indent + 4), f"{pad})"]
                continue
            lines.append(text)
        elif isinstance(operand, Call):
            lines += layout(operator, operand, "", indent)
        elif isinstance(operand, BinOp) and len(f"{pad}{operator}{_flat(operand)}") > WIDTH:
            first, *rest = _operands(operand, indent)
            lines += [f"{pad}{operator}{first.lstrip()}", *rest]
        else:
            lines.append(f"{pad}{operator}{_flat(operand)}")
    return lines
