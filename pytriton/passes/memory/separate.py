"""A statement that meets itself in memory -> statements of one access each, between which barriers fit.

    *(Y + r) = *(Y + 7 - r);                value = *(Y + 7 - r); *(Y + r) = value;
    atomic_add(Y + 7 - r, *(Y + r));        value = *(Y + r); atomic_add(Y + 7 - r, value);

Operands come first, from left to right; a store comes last. passes/memory/barriers.py says what must be taken
apart.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Comments,
    Declare,
    Evaluate,
    Expr,
    If,
    Load,
    Name,
    Statement,
    Store,
    Symbol,
)
from pytriton.lang.tree.types import BlockType, PointerType, ScalarType
from pytriton.lang.tree.walk import with_children
from pytriton.passes.analysis.queries import has_load

__all__ = ["in_parts"]


def in_parts(statement: Statement) -> Body:
    """The statements that do the same, one after the other; itself where there is nothing to take apart."""
    parts = _Parts(statement)
    last: Statement = statement
    match statement:
        case Store():
            last = parts.store(statement)
        case Declare(value=value) | Assign(value=value) | Evaluate(value=value) if value is not None:
            value = with_children(value, parts.single)
            last = replace(statement, value=value, comments=parts.comments)
        case If(condition=condition):
            condition = parts.single(condition)
            last = replace(statement, condition=condition, comments=parts.comments)
    return (*parts.hoisted, last)


class _Parts:
    """``made``: what goes before it. The first of all parts has the statement's comments."""

    def __init__(self, statement: Statement) -> None:
        self.span = statement.span
        self.comments = statement.comments
        self.hoisted: list[Declare] = []

    def store(self, store: Store) -> Store:
        """A store without loads: its value and its mask are loaded whole."""
        value, mask = self._whole("value", store.value), store.mask and self._whole("mask", store.mask)
        pointer = self.single(store.pointer, "index")
        return replace(store, pointer=pointer, value=value, mask=mask, comments=self.comments)

    def single(self, expr: Expr, name: str = "value") -> Expr:
        """The expression, every load and every atomic of it in a statement of its own."""
        if not isinstance(expr, Load):
            expr = with_children(expr, lambda child: self.single(child, name))
        return self._hoisted(name, expr) if isinstance(expr, Load | Atomic) else expr

    def _whole(self, name: str, expr: Expr) -> Expr:
        return self._hoisted(name, expr) if has_load(expr) else expr

    def _hoisted(self, name: str, expr: Expr) -> Name:
        assert isinstance(expr.type, ScalarType | PointerType | BlockType)
        symbol = Symbol(name, expr.type, self.span)
        self.hoisted.append(Declare(self.span, symbol, expr, self.comments))
        self.comments = Comments()
        return Name(expr.span, expr.type, symbol)
