"""Every load, store and atomic of a kernel gets a number, its *site*, by which checked code reports faults.

Input: a kernel after all passes. Output: the same kernel, its accesses numbered, and one ``Site`` a number. It runs
last, and only for checked code: passes no longer move, repeat or mask accesses, and spans are still those of the
source. A site records the parameters that its pointer may come from, and those that determine the offset, the mask
and the iterations of the loops around it; runtime/checks/cures.py derives the help of a diagnostic from these.
"""

from __future__ import annotations

from typing import Literal as Choice

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import value_of
from pytriton.lang.tree.types import PointerType, element_of, shape_of
from pytriton.lang.tree.walk import (
    expressions,
    has_memory,
    statements,
    walk,
    with_bodies,
    with_children,
    with_expressions,
)
from pytriton.passes.analysis.queries import Values, sources, values_of
from pytriton.passes.memory.provenance import Provenance
from pytriton.source import Span


@record
class Site:
    """One access. ``roots``: the pointer parameters in whose memory it may be, None for any memory at all.

    ``span`` is that of ``*pointer`` in the source, ``width`` the bytes of an element, ``shape`` that of the block.
    The names are those of scalar parameters: ``offsets`` determine the address, ``limits`` the mask, ``bounds`` the
    loops around the access. ``gathered`` are the pointer parameters from whose memory a part of the offset was
    loaded.
    """

    span: Span
    kind: Choice["load", "store", "atomic"]
    roots: tuple[str, ...] | None
    width: int
    shape: tuple[int, ...]
    masked: bool
    offsets: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    gathered: tuple[str, ...] = ()


def numbered(kernel: typed.KernelDef) -> tuple[typed.KernelDef, tuple[Site, ...]]:
    """The kernel with a number for each access, and the sites by number."""
    accesses = _Accesses(kernel)
    body = accesses.numbered(kernel.body, ())
    return replace(kernel, body=body), tuple(accesses.sites)


class _Accesses:
    """Numbers the accesses of one kernel, in the order of its statements."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self.sites: list[Site] = []
        self._kernel = kernel
        self._provenance = Provenance(kernel)
        self._values = _set_in(kernel.body)

    def numbered(self, body: typed.Body, loops: tuple[typed.Statement, ...]) -> typed.Body:
        """The statements with their accesses numbered; ``loops`` are those around them."""
        return tuple([self._statement(statement, loops) for statement in body])

    def _statement(self, statement: typed.Statement, loops: tuple[typed.Statement, ...]) -> typed.Statement:
        inside = (
            (*loops, statement)
            if isinstance(statement, typed.RangeLoop | typed.For | typed.While | typed.DoWhile)
            else loops
        )
        # The condition of a loop is evaluated in each iteration, the bounds of a range only once.
        own = loops if isinstance(statement, typed.RangeLoop) else inside
        statement = with_expressions(statement, lambda expr: self._expression(expr, own))
        if isinstance(statement, typed.Store):
            site = self._site(statement.span, "store", statement.pointer, statement.mask, loops)
            return replace(statement, site=site)
        return with_bodies(statement, lambda body: self.numbered(body, inside))

    def _expression(self, expr: typed.Expr, loops: tuple[typed.Statement, ...]) -> typed.Expr:
        if not has_memory(expr):
            return expr
        expr = with_children(expr, lambda child: self._expression(child, loops))
        if isinstance(expr, typed.Load | typed.Atomic):
            kind: Choice["load", "atomic"] = "load" if isinstance(expr, typed.Load) else "atomic"
            return replace(expr, site=self._site(expr.span, kind, expr.pointer, expr.mask, loops))
        return expr

    def _site(
        self,
        span: Span,
        kind: Choice["load", "store", "atomic"],
        pointer: typed.Expr,
        mask: typed.Expr | None,
        loops: tuple[typed.Statement, ...],
    ) -> int:
        roots = self._provenance.roots(pointer)
        names = None if roots is None else tuple(s.name for s in self._kernel.parameters if s in roots)
        offsets = self._sources(pointer)
        around = self._sources(*[expr for loop in loops for expr in _bounds(loop)])
        self.sites.append(
            Site(
                _target(span, span if kind == "atomic" else pointer.span),
                kind,
                names,
                _width(pointer),
                tuple(map(value_of, shape_of(pointer.type))),
                mask is not None,
                _scalars(offsets),
                _scalars(self._sources(mask) if mask is not None else set()),
                _scalars(around),
                tuple(sorted(symbol.name for symbol in offsets & self._loaded(pointer))),
            )
        )
        return len(self.sites) - 1

    def _sources(self, *several: typed.Expr) -> set[typed.Symbol]:
        """The parameters that expressions depend on, including those of memory that they read."""
        return sources(several, self._values) & set(self._kernel.parameters)

    def _loaded(self, expr: typed.Expr) -> set[typed.Symbol]:
        """The pointer parameters from whose memory the expression loads, also through variables."""
        computed = [
            value for symbol in sources([expr], self._values) for value in self._values.get(symbol, ())
        ]
        loads = (
            node
            for part in (expr, *computed)
            for node in walk(part)
            if isinstance(node, typed.Load | typed.Atomic)
        )
        return set().union(*(self._provenance.roots(load.pointer) or () for load in loads))


def _target(span: Span, pointer: Span) -> Span:
    """The part of ``*p = v`` up to the pointer, with the parentheses that it opens."""
    inside = pointer.source is span.source and span.start <= pointer.start
    end = pointer.end if inside and pointer.end <= span.end else span.end
    text = span.source.text
    depth = text.count("(", span.start, end) - text.count(")", span.start, end)
    while depth > 0 and text[end : end + 1] in (")", " "):
        depth -= text[end] == ")"
        end += 1
    return Span(span.source, span.start, end, span.expansion or pointer.expansion)


def _width(pointer: typed.Expr) -> int:
    element = element_of(pointer.type)
    assert isinstance(element, PointerType)
    return 8 if isinstance(element.element, PointerType) else max(1, element.element.bits // 8)


def _bounds(loop: typed.Statement) -> list[typed.Expr]:
    """The expressions that decide how many iterations a loop has."""
    if isinstance(loop, typed.RangeLoop):
        return [loop.start, loop.stop]
    return expressions((loop,), deep=False)


def _scalars(symbols: set[typed.Symbol]) -> tuple[str, ...]:
    return tuple(sorted(symbol.name for symbol in symbols if not isinstance(symbol.type, PointerType)))


def _set_in(body: typed.Body) -> Values:
    """All values of variables, including those of ranges."""
    values = values_of(body)
    for loop in statements(body):
        if isinstance(loop, typed.RangeLoop):
            values.setdefault(loop.symbol, []).extend((loop.start, loop.stop, loop.step))
    return values
