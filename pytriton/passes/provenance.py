"""Which memory a pointer reaches: the parameters that it was computed from.

Arithmetic, casts, selections and variables are followed to a fixed point; a pointer that was itself loaded
from memory, or made from a number, may reach anything. On this stand ``reads`` and ``writes``, and the
question whether a load and a store may touch the same bytes.
"""

from __future__ import annotations

from functools import cached_property

from pytriton.lang.typed import (
    Assign,
    Atomic,
    Body,
    Cast,
    Declare,
    Expr,
    KernelDef,
    Load,
    Name,
    Statement,
    Store,
    Symbol,
)
from pytriton.lang.types import PointerType, element_of
from pytriton.lang.walk import bodies, children, expressions, walk

__all__ = ["Provenance", "may_meet", "statements"]

Roots = frozenset[Symbol] | None  # None: anything


class Provenance:
    """The roots of every pointer of a kernel."""

    def __init__(self, kernel: KernelDef) -> None:
        self._parameters = kernel.parameters
        self._roots: dict[Symbol, Roots] = {
            symbol: frozenset([symbol])
            for symbol in kernel.parameters
            if isinstance(symbol.type, PointerType)
        }
        pairs = list(_assignments(kernel.body))
        changed = True
        while changed:
            changed = False
            for symbol, value in pairs:
                before = self._roots.get(symbol, frozenset())
                after = _join(before, self.roots(value))
                if after != before or symbol not in self._roots:
                    self._roots[symbol] = after
                    changed = True
        self._body = kernel.body

    @property
    def reads(self) -> tuple[str, ...]:
        """The parameters through which memory is read."""
        return self._effects[0]

    @property
    def writes(self) -> tuple[str, ...]:
        """The parameters through which memory is written."""
        return self._effects[1]

    @property
    def strays(self) -> bool:
        """Whether memory is written that no parameter points to."""
        return self._effects[2]

    def roots(self, pointer: Expr) -> Roots:
        """The parameters that a pointer may point into."""
        if isinstance(pointer, Name):
            return self._roots.get(pointer.symbol, frozenset())
        if isinstance(pointer, Load | Atomic):
            return None
        if isinstance(pointer, Cast) and not _is_pointer(pointer.operand):
            return None
        found: Roots = frozenset()
        for child in children(pointer):
            if _is_pointer(child):
                found = _join(found, self.roots(child))
        return found

    def only_root(self, pointer: Expr) -> Symbol | None:
        """The parameter that a pointer points into, if it can only be one."""
        roots = self.roots(pointer)
        return next(iter(roots)) if roots is not None and len(roots) == 1 else None

    def may_alias(self, first: Expr, second: Expr) -> bool:
        """Whether two pointers may reach the same memory."""
        return may_meet(self.roots(first), self.roots(second))

    def writes_to(self, body: Body, pointer: Expr) -> bool:
        """Whether the statements may write memory that the pointer reaches."""
        for statement in statements(body):
            if isinstance(statement, Store) and self.may_alias(statement.pointer, pointer):
                return True
        return any(
            isinstance(node, Atomic) or (hasattr(node, "function") and node.function == "barrier")
            for expr in expressions(body)
            for node in walk(expr)
        )

    @cached_property
    def _effects(self) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        reads: set[Symbol] = set()
        writes: set[Symbol] = set()
        strays = False
        everything = {symbol for symbol in self._parameters if isinstance(symbol.type, PointerType)}

        def reach(pointer: Expr) -> set[Symbol]:
            roots = self.roots(pointer)
            return everything if roots is None else set(roots)

        def written(pointer: Expr) -> None:
            nonlocal strays
            writes.update(reach(pointer))
            strays |= self.roots(pointer) is None

        for expr in expressions(self._body):
            for node in walk(expr):
                if isinstance(node, (Load, Atomic)):
                    reads |= reach(node.pointer)
                    if isinstance(node, Atomic):
                        written(node.pointer)
        for statement in statements(self._body):
            if isinstance(statement, Store):
                written(statement.pointer)
        ordered = [symbol for symbol in self._parameters if symbol in everything]
        return (
            tuple(symbol.name for symbol in ordered if symbol in reads),
            tuple(symbol.name for symbol in ordered if symbol in writes),
            strays,
        )


def may_meet(left: Roots, right: Roots) -> bool:
    """Whether pointers with these roots may reach the same memory."""
    if left is None or right is None:
        return True
    for one in left:
        for other in right:
            if one is other or not (one.noalias or other.noalias):
                return True
    return False


def _join(left: Roots, right: Roots) -> Roots:
    return None if left is None or right is None else left | right


def _is_pointer(expr: Expr) -> bool:
    return isinstance(element_of(expr.type), PointerType)  # type: ignore[arg-type]


def statements(body: Body) -> list[Statement]:
    """Every statement of a body, those of inner blocks behind the one that holds them."""
    found: list[Statement] = []
    for statement in body:
        found.append(statement)
        for inner in bodies(statement):
            found += statements(inner)
    return found


def _assignments(body: Body) -> list[tuple[Symbol, Expr]]:
    return [
        (statement.symbol, statement.value)
        for statement in statements(body)
        if isinstance(statement, Declare | Assign)
        and statement.value is not None
        and _is_pointer(statement.value)
    ]
