"""The Python that is generated, as a tree: expressions, statements with comments and source lines, the kernel.

``stmt.py`` builds the body, ``module.py`` the kernel around it; ``fold`` merges the trees of many define sets
into one; ``printer.py`` is the only thing that prints a tree. Invariant: a statement holds all that is printed
for it, so that equal trees print alike.

Here is how an expression is printed on one line, with just the parentheses that Python needs (one precedence table;
the right operand of a left-associative operator is printed one level tighter). What is too long for a line is
broken in printer.py.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pytriton.frozen import record

PRECEDENCE: Final = {
    "if": 0,
    "or": 1,
    "and": 2,
    "not": 3,
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!=", "is", "is not"), 4),
    "|": 5,
    "^": 6,
    "&": 7,
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "//", "%"), 10),
    "unary": 11,
}
_COMPARISON: Final = 4
POSTFIX: Final = 13
CONSTEXPR: Final = "tl.constexpr"


@record
class Atom:
    """A name or a number; a negative number binds like a unary minus."""

    text: str


@record
class BinOp:
    operator: str
    left: Node
    right: Node


@record
class UnaryOp:
    """``-`` ``~`` or ``not``"""

    operator: str
    operand: Node


@record
class Call:
    function: str
    arguments: tuple[Node, ...]
    keywords: tuple[tuple[str, Node], ...] = ()


@record
class Method:
    """``operand.name(arguments)``"""

    operand: Node
    name: str
    arguments: tuple[Node, ...]


@record
class Index:
    """``operand[items]``, the items as text: ``:, None``."""

    operand: Node
    items: str


@record
class Tuple:
    items: tuple[Node, ...]


@record
class Conditional:
    """``then if condition else otherwise``"""

    condition: Node
    then: Node
    otherwise: Node


Node = Atom | BinOp | UnaryOp | Call | Method | Index | Tuple | Conditional


@record
class Simple:
    """``before node``, as in ``x = ...``. Without a node, ``before`` is the whole statement (``pass``); where that
    is empty too, only the comments above are left.
    """

    before: str
    node: Node | None
    line: int = 0
    above: tuple[str, ...] = ()
    beside: str = ""


@record
class Block:
    """``before node:`` and the statements in it; ``otherwise`` is for ``if`` only."""

    before: str
    node: Node
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...] = ()
    line: int = 0
    above: tuple[str, ...] = ()
    beside: str = ""


Statement = Simple | Block


class FunctionParameter(NamedTuple):
    """``name: annotation,  # note`` under the comments above it."""

    name: str
    annotation: str  # CONSTEXPR for a define
    above: tuple[str, ...] = ()
    note: str = ""


class KernelFunction(NamedTuple):
    """``helpers`` are functions of the templates by name, ``above`` the comments before the kernel,
    ``libdevice`` whether the module imports it.
    """

    function: str
    above: tuple[str, ...]
    parameters: tuple[FunctionParameter, ...]
    body: tuple[Statement, ...]
    line: int = 0
    helpers: frozenset[str] = frozenset()
    libdevice: bool = False


def show(node: Node, tight: int = 0) -> str:
    """The node on one line; in parentheses if it binds looser than ``tight``."""
    text = _flat(node)
    return f"({text})" if level(node) < tight else text


def level(node: Node) -> int:
    """How tight the node binds; it needs parentheses where something tighter is required."""
    match node:
        case Atom(text=text):
            return PRECEDENCE["unary"] if text.startswith("-") else POSTFIX
        case BinOp(operator=operator):
            return PRECEDENCE[operator]
        case UnaryOp(operator=operator):
            return PRECEDENCE["not" if operator == "not" else "unary"]
        case Conditional():
            return PRECEDENCE["if"]
        case _:
            return POSTFIX


def left_level(node: BinOp) -> int:
    """How tight the left operand must bind. A row of comparisons would be a chain: a < b and b < c."""
    own = PRECEDENCE[node.operator]
    return own + (own == _COMPARISON)


def _flat(node: Node) -> str:
    match node:
        case Atom(text=text):
            return text
        case BinOp(operator=operator, left=left, right=right):
            return f"{show(left, left_level(node))} {operator} {show(right, PRECEDENCE[operator] + 1)}"
        case UnaryOp(operator="not", operand=operand):
            return f"not {show(operand, PRECEDENCE['not'])}"
        case UnaryOp(operator=operator, operand=operand):
            return f"{operator}{show(operand, PRECEDENCE['unary'])}"
        case Call():
            return f"{node.function}({', '.join(_arguments(node))})"
        case Method(operand=operand, name=name, arguments=arguments):
            return f"{show(operand, POSTFIX)}.{name}({', '.join(map(_flat, arguments))})"
        case Index(operand=operand, items=items):
            return f"{show(operand, POSTFIX)}[{items}]"
        case Tuple(items=items):
            inner = ", ".join(map(_flat, items))
            return f"({inner},)" if len(items) == 1 else f"({inner})"
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            tight = PRECEDENCE["or"]
            return f"{show(then, tight)} if {show(condition, tight)} else {_flat(otherwise)}"


def _arguments(node: Call) -> list[str]:
    keywords = [f"{name}={_flat(value)}" for name, value in node.keywords]
    return [*map(_flat, node.arguments), *keywords]
