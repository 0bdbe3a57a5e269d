"""Which memory a pointer reaches: the parameters that it was computed from.

Arithmetic, casts, selections and variables are followed to a fixed point; a pointer that was itself loaded
from memory, or made from a number, may reach anything. ``roots`` is independent of the order of statements, as
passes move these. ``reads`` and ``writes`` are found in program order: after ``p = X; p = Y;`` the variable reaches
``Y``, and in a loop all that any iteration assigns to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from pytriton.errors import Report
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import BlockType, PointerType
from pytriton.lang.tree.walk import (
    bodies,
    children,
    expressions,
    has_memory,
    inside,
    set_bases,
    statements,
    walk,
)
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import assignments, orders_memory

Roots = frozenset[typed.Symbol] | None  # None: anything
_LOADS = frozenset((typed.Load, typed.Atomic))
_NOWHERE: Roots = frozenset()


class Provenance:
    """The roots of every pointer of a kernel."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self._parameters = kernel.parameters
        self._roots = _parameters(kernel.parameters)
        _settle(_pointers_set(kernel.body), self._roots)
        self._body = kernel.body

    @cached_property
    def accesses(self) -> list[tuple[Access, Roots]]:
        """Every access in program order, with the roots of its pointer at that place."""
        return list(_accesses(self._body, _parameters(self._parameters)))

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The parameters through which memory is read."""
        return self._named(roots for access, roots in self.accesses if not isinstance(access, typed.Store))

    @cached_property
    def writes(self) -> tuple[str, ...]:
        """The parameters through which memory is written."""
        return self._named(roots for access, roots in self.accesses if not isinstance(access, typed.Load))

    @property
    def writes_elsewhere(self) -> bool:
        """Whether memory is written through pointers of unknown roots."""
        return any(roots is None and not isinstance(access, typed.Load) for access, roots in self.accesses)

    def roots(self, pointer: typed.Expr) -> Roots:
        """The parameters that a pointer may point into."""
        return _roots(pointer, self._roots)

    def only_root(self, pointer: typed.Expr) -> typed.Symbol | None:
        """The parameter that a pointer points into, if it can only be one."""
        roots = self.roots(pointer)
        return next(iter(roots)) if roots is not None and len(roots) == 1 else None

    def may_alias(self, first: typed.Expr, second: typed.Expr) -> bool:
        """Whether two pointers may reach the same memory."""
        return may_meet(self.roots(first), self.roots(second))

    def writes_to(self, body: typed.Body, pointer: typed.Expr) -> bool:
        """Whether the statements may write memory that the pointer reaches."""
        for statement in statements(body):
            if statement.__class__ is typed.Store and self.may_alias(statement.pointer, pointer):
                return True
        return orders_memory(body)

    def _named(self, several: Iterable[Roots]) -> tuple[str, ...]:
        reached = _join(*several)
        pointers = self._roots if reached is None else reached
        return tuple(symbol.name for symbol in self._parameters if symbol in pointers)


Access = typed.Load | typed.Atomic | typed.Store


def _accesses(body: typed.Body, roots: dict[typed.Symbol, Roots]) -> Iterator[tuple[Access, Roots]]:
    """The accesses in program order; ``roots``, the roots of variables, becomes that after the body."""
    for statement in body:
        inner = bodies(statement)
        is_loop = bool(inner) and not isinstance(statement, typed.If)
        if is_loop:
            _settle(_pointers_set((statement,)), roots)
        if not _LOADS.isdisjoint(inside(statement).kinds):
            for expr in filter(has_memory, expressions((statement,), deep=False)):
                for node in walk(expr):
                    if isinstance(node, typed.Load | typed.Atomic):
                        yield node, _roots(node.pointer, roots)
        if isinstance(statement, typed.Store):
            yield statement, _roots(statement.pointer, roots)
        elif isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None:
            if _is_pointer(statement.value):
                roots[statement.symbol] = _roots(statement.value, roots)
        elif inner:
            ends = [roots if is_loop else {}]
            for block in inner:
                ends.append(dict(roots))
                yield from _accesses(block, ends[-1])
            for symbol in set().union(*ends):
                roots[symbol] = _join(*(end.get(symbol, frozenset()) for end in ends))


def _parameters(parameters: tuple[typed.Symbol, ...]) -> dict[typed.Symbol, Roots]:
    """The pointers among parameters, each of which reaches its own memory."""
    return {symbol: frozenset([symbol]) for symbol in parameters if isinstance(symbol.type, PointerType)}


def _settle(assignments: list[tuple[typed.Symbol, typed.Expr]], roots: dict[typed.Symbol, Roots]) -> None:
    """The fixed point of the assignments in any order."""
    changed = True
    while changed:
        changed = False
        for symbol, value in assignments:
            before = roots.get(symbol, frozenset())
            after = _join(before, _roots(value, roots))
            if after != before or symbol not in roots:
                roots[symbol] = after
                changed = True


def _roots(pointer: typed.Expr, roots: dict[typed.Symbol, Roots]) -> Roots:
    bases = _bases(pointer)
    return None if bases is None else _join(*[roots.get(symbol, _NOWHERE) for symbol in bases])


def _bases(pointer: typed.Expr) -> Roots:
    """The variables that a pointer is computed from, cached in the node."""
    try:
        return pointer.bases
    except AttributeError:
        bases = _computed_from(pointer)
        set_bases(pointer, bases)
        return bases


def _computed_from(pointer: typed.Expr) -> Roots:
    if isinstance(pointer, typed.Name):
        return frozenset([pointer.symbol])
    if isinstance(pointer, typed.Load | typed.Atomic):
        return None
    if isinstance(pointer, typed.Cast) and not _is_pointer(pointer.operand):
        return None
    return _join(*[_bases(child) for child in children(pointer) if _is_pointer(child)])


def may_meet(left: Roots, right: Roots) -> bool:
    """Whether pointers with these roots may reach the same memory."""
    if left is None or right is None:
        return True
    for first in left:
        for second in right:
            if first is second or not (first.noalias or second.noalias):
                return True
    return False


def _join(*several: Roots) -> Roots:
    joined = _NOWHERE
    for roots in several:
        if roots is None:
            return None
        joined = roots if not joined or joined is roots else joined | roots
    return joined


def _is_pointer(expr: typed.Expr) -> bool:
    type_ = expr.type
    return isinstance(type_.element if isinstance(type_, BlockType) else type_, PointerType)


def _pointers_set(body: typed.Body) -> list[tuple[typed.Symbol, typed.Expr]]:
    return [(symbol, value) for symbol, value in assignments(body) if _is_pointer(value)]


# ---------------------------------------------------------------- qualifiers
# ``__readonly``, ``const`` and ``__writeonly``, compared with the accesses of the kernel.
#
# Real kernels are often wrong here, so nothing relies on these qualifiers: ``reads`` and ``writes`` come from the
# loads and stores. A false qualifier causes a warning (docs/language.md, Kernels and parameters).


def check_qualifiers(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel unchanged. Warns (TC327) at the first access that contradicts the qualifier of a parameter."""
    qualified = {symbol for symbol in kernel.parameters if _not_written(symbol) or symbol.writeonly}
    if not qualified:
        return kernel
    for access, roots in Provenance(kernel).accesses:
        root = next(iter(roots)) if roots is not None and len(roots) == 1 else None
        stores = not isinstance(access, typed.Load)
        if root in qualified and (_not_written(root) if stores else root.writeonly):
            qualified.discard(root)
            _warn(root, access, context.report, stores=stores)
    return kernel


def _not_written(parameter: typed.Symbol) -> bool:
    return parameter.readonly or parameter.const_target


def _warn(parameter: typed.Symbol, at: Access, report: Report, *, stores: bool) -> None:
    does = "stored through" if stores else "loaded through"
    word = ("__readonly" if parameter.readonly else "const") if stores else "__writeonly"
    report.warning(
        "TC327",
        f"'{parameter.name}' is {word}, but it is {does}: the attribute is ignored",
        at.span,
        ("it was declared here", parameter.span),
    )
