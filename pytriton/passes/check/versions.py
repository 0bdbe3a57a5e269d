"""Two versions of checked code for a GPU: where all accesses are known to be inside, they are made unchecked.

Input: a kernel whose accesses are numbered. Output: ``if all are inside: body without checks, else: body with
checks``, where the condition is a few scalars that are computed once, before any loop: the lowest and the highest
address that each pointer can have (intervals.py). So the loop that runs nearly always is the plain one, and stays
pipelined; the other one runs in programs at an edge, and in those that are wrong. Accesses of which nobody knows
stay checked in both.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    Atomic,
    Binary,
    Call,
    Expr,
    If,
    KernelDef,
    Literal,
    Load,
    Name,
    Return,
    Statement,
    Store,
)
from pytriton.lang.tree.types import BOOL, INT
from pytriton.lang.tree.walk import has_memory, map_body, statements, walk, with_children, with_expressions
from pytriton.passes.check.intervals import Intervals
from pytriton.passes.check.sites import Site

__all__ = ["versioned"]

MAX_CONDITION_NODES = 2000


def versioned(kernel: KernelDef, sites: Sequence[Site]) -> KernelDef:
    """The kernel in two versions; as it is, where that gains nothing."""
    if any(isinstance(statement, Return) for statement in statements(kernel.body)):
        return kernel
    intervals = Intervals(kernel)
    inside: list[Expr] = []
    proved: set[int] = set()
    for statement in statements(kernel.body):
        for number, pointer in _accesses(statement):
            before = len(intervals.requirements)
            condition = _condition(intervals, statement, number, pointer, sites[number])
            if condition is None:
                del intervals.requirements[before:]
            else:
                proved.add(number)
                inside.append(condition)
    conditions = [*intervals.requirements, *inside]
    if not inside or sum(len(walk(condition)) for condition in conditions) > MAX_CONDITION_NODES:
        return kernel
    everything = conditions[0]
    for condition in conditions[1:]:
        everything = Binary(kernel.span, BOOL, "&&", everything, condition)
    fast = map_body(kernel.body, lambda statement: _without(statement, proved))
    return replace(kernel, body=(If(kernel.span, everything, fast, kernel.body),))


def _accesses(statement: Statement) -> list[tuple[int, Expr]]:
    """The sites of one statement, those of blocks inside it left out, with their pointers."""
    found: list[tuple[int, Expr]] = []

    def look(expr: Expr) -> Expr:
        for node in walk(expr):
            if isinstance(node, Load | Atomic) and node.site is not None:
                found.append((node.site, node.pointer))
        return expr

    with_expressions(statement, look)
    if isinstance(statement, Store) and statement.site is not None:
        found.append((statement.site, statement.pointer))
    return found


def _condition(
    intervals: Intervals, statement: Statement, number: int, pointer: Expr, site: Site
) -> Expr | None:
    """That an access is inside whatever its mask; None if nobody knows where it goes."""
    if site.kind == "atomic":
        return None  # one is not worth a version
    place = intervals.places[id(statement)]
    known = intervals.pointer(pointer, place)
    if known is None:
        return None
    root, interval = known
    base = Name(root.span, root.type, root)
    ends = [
        Binary(site.span, root.type, "+", base, intervals.as_expr(bound))
        for bound in (interval.low, interval.high)
    ]
    return Call(site.span, BOOL, "within", (*ends, Literal(site.span, INT, number)))


def _without(statement: Statement, proved: set[int]) -> Statement:
    """The statement with the accesses that are proved unchecked."""

    def change(expr: Expr) -> Expr:
        if not has_memory(expr):
            return expr
        expr = with_children(expr, change)
        return replace(expr, site=None) if isinstance(expr, Load) and expr.site in proved else expr

    statement = with_expressions(statement, change)
    if isinstance(statement, Store) and statement.site in proved:
        return replace(statement, site=None)
    return statement
