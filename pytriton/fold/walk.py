"""Walks over the expressions and statements of a module.

The operands of an expression are its fields that are expressions, also inside tuples; all other fields are strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from typing import Any

from pytriton.emit.python import Atom, Block, Node, Simple, Statement
from pytriton.frozen import replace

_HOLE = Atom("")


def children(node: Node) -> tuple[Node, ...]:
    """The operands of an expression, in order."""
    return () if isinstance(node, Atom) else tuple(_operands(_fields(node)))


def _fields(node: Node) -> tuple[Any, ...]:
    return tuple(getattr(node, name) for name in node.__match_args__)


def _operands(parts: Iterable[Any]) -> Iterator[Node]:
    for part in parts:
        if isinstance(part, tuple):
            yield from _operands(part)
        elif not isinstance(part, str):
            yield part


def rebuilt(node: Node, operands: Iterable[Node]) -> Node:
    """The same expression over other operands."""
    if isinstance(node, Atom):
        return node
    left = iter(operands)

    def filled(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(filled, part))
        return part if isinstance(part, str) else next(left)

    return type(node)(*map(filled, _fields(node)))


def form(node: Node) -> Node:
    """What two expressions must share to be compared operand by operand."""
    return rebuilt(node, repeat(_HOLE))


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


def expressions(body: Iterable[Statement]) -> Iterator[Node]:
    """Every part of every expression of a body."""
    for statement in statements(body):
        if statement.node is not None:
            yield from walk(statement.node)


def names_read(body: Iterable[Statement]) -> frozenset[str]:
    """The names that occur in expressions; what is changed in place (``x += 1``) is read, too."""
    names: set[str] = set()
    for statement in statements(body):
        target, _, operator = statement.before.rstrip("= ").partition(" ")
        if operator and isinstance(statement, Simple):
            names.add(target)
    names |= {node.text.partition(".")[0] for node in expressions(body) if isinstance(node, Atom)}
    return frozenset(names)


def rewritten(node: Node, change: Callable[[Node], Node]) -> Node:
    """The expression with each part changed, operands first."""
    return change(rebuilt(node, [rewritten(child, change) for child in children(node)]))


def with_bodies(
    statement: Statement, change: Callable[[tuple[Statement, ...]], Iterable[Statement]]
) -> Statement:
    """A statement with other statements inside it."""
    if not isinstance(statement, Block):
        return statement
    body, otherwise = (tuple(change(part)) for part in (statement.body, statement.otherwise))
    return replace(statement, body=body, otherwise=otherwise)


def mapped(body: Iterable[Statement], change: Callable[[Node, Statement], Node]) -> tuple[Statement, ...]:
    """The statements with each part of their expressions changed; ``change`` gets the part and its statement."""

    def of(statement: Statement) -> Statement:
        node = statement.node
        if node is not None:
            statement = replace(statement, node=rewritten(node, lambda part: change(part, statement)))
        return with_bodies(statement, lambda inner: mapped(inner, change))

    return tuple(map(of, body))
