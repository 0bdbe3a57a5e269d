"""Undoes the prefetch idiom: loads stand at the top of the loop that uses them.

Old kernels load their operands before the loop and again at its end, as the old compiler wanted it. Triton
pipelines a loop only if its loads stand at the top, and the last of those loads is dead and may reach past the
end of the tensor. ``a = *pa; for (...) { use(a); pa += d; a = *pa; }`` becomes
``for (...) { a = *pa; use(a); pa += d; }`` when all of this holds:

- ``a`` is set before the loop and at its end by expressions that are written alike, and nowhere else in it;
- between the first one and the loop, and between the second one and the end of the body, nothing assigns what
  they read, nothing reads ``a``, and nothing writes memory that they may read;
- they do not read the variable of the loop, nor anything that its step assigns;
- nothing reads ``a`` after the loop.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.typed import (
    Assign,
    Body,
    Comments,
    Declare,
    Expr,
    For,
    KernelDef,
    Load,
    RangeLoop,
    Statement,
)
from pytriton.lang.walk import assigned, bodies, expressions, has_memory, names, reads, same, walk
from pytriton.passes.liveness import Block, Later
from pytriton.passes.provenance import Provenance

__all__ = ["prefetch"]


def prefetch(kernel: KernelDef) -> KernelDef:
    """The kernel with its prefetched operands loaded where they are used."""
    return replace(kernel, body=_Undo(Provenance(kernel)).body(kernel.body, None))


class _Undo:
    def __init__(self, provenance: Provenance) -> None:
        self.provenance = provenance

    def body(self, body: Body, outer: Later | None) -> Body:
        """``outer``: what may be read after this body, or again in it."""
        block = Block(body, outer)
        result: Body = ()
        for position, statement in enumerate(body):
            if bodies(statement):
                inner = block.within(position, statement)
                if isinstance(statement, RangeLoop | For):
                    result, statement = self._loop(result, statement, block.after(position))
                statement = self._inner(statement, inner)
            result = (*result, statement)
        return result

    def _inner(self, statement: Statement, later: Later) -> Statement:
        parts = {
            name: self.body(getattr(statement, name), later)
            for name in ("body", "then", "otherwise")
            if hasattr(statement, name)
        }
        return replace(statement, **parts) if parts else statement  # type: ignore[arg-type]

    def _loop(self, before: Body, loop: RangeLoop | For, later: Later) -> tuple[Body, RangeLoop | For]:
        """Sink every prefetch of one loop; its tail is searched from the end."""
        sunk: list[Statement] = []
        position = len(loop.body)
        while position > 0:
            position -= 1
            tail = loop.body[position]
            if not isinstance(tail, Assign) or not has_memory(tail.value):
                continue
            first = self._first(before, tail)
            if first is None or not self._legal(before, first, loop, position, tail, later):
                continue
            early = before[first]
            assert isinstance(early, Declare | Assign)
            comments = Comments(
                early.comments.above + tail.comments.above, tail.comments.behind or early.comments.behind
            )
            load = replace(early, value=tail.value, span=tail.span, comments=comments)
            sunk.insert(0, load)
            before = before[:first] + before[first + 1 :]
            loop = replace(loop, body=loop.body[:position] + loop.body[position + 1 :])
        return before, replace(loop, body=(*sunk, *loop.body)) if sunk else loop

    def _first(self, before: Body, tail: Assign) -> int | None:
        """Where the variable is set last before the loop."""
        for index in range(len(before) - 1, -1, -1):
            statement = before[index]
            if isinstance(statement, Declare | Assign) and statement.symbol is tail.symbol:
                return index if statement.value is not None else None
            if tail.symbol in assigned((statement,)):
                return None
        return None

    def _legal(
        self,
        before: Body,
        first: int,
        loop: RangeLoop | For,
        position: int,
        tail: Assign,
        later: Later,
    ) -> bool:
        early = before[first]
        assert isinstance(early, Declare | Assign) and early.value is not None
        live = later.in_block(tail.symbol) if isinstance(early, Declare) else tail.symbol in later
        if live or not same(early.value, tail.value):
            return False
        rest = loop.body[:position], loop.body[position + 1 :]
        if tail.symbol in assigned(rest[0] + rest[1]):
            return False
        operands = names(tail.value)
        changed = {loop.symbol} if isinstance(loop, RangeLoop) else assigned(loop.init + loop.step)
        if operands & changed or tail.symbol in operands:
            return False
        between = before[first + 1 :], rest[1]
        if isinstance(loop, For):
            between = between[0] + loop.init, between[1] + loop.step
        for gap in between:
            if operands & assigned(gap) or tail.symbol in reads(gap) | assigned(gap):
                return False
            if any(self.provenance.writes_to(gap, pointer) for pointer in _pointers(tail.value)):
                return False
        bounds = tuple(expressions((replace(loop, body=()),)))
        return not any(tail.symbol in names(bound) for bound in bounds)


def _pointers(expr: Expr) -> list[Expr]:
    return [node.pointer for node in walk(expr) if isinstance(node, Load)]
