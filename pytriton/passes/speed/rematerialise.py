"""A mask from before a loop with a matrix product that is used again after it -> recomputed there.

A mask of a block takes some of a thread's seven predicate registers. Live over such a loop it takes them from the
range checks and loads of the loop (attention at head size 64: four of seven, 361 instructions per step for 349). So

    checkm = (rm < M)[:, None]
    ... loads under checkm, the loop ...
    checkm = (tl.where(rm ^ M < 0, rm, rm - M) < 0)[:, None]
    ... stores under checkm

The compiler would reuse ``rm < M``, also in wider integers or unsigned. So the recomputed mask tests the sign of
the difference: that of ``rm - M`` if both have the same sign, as such a difference does not wrap, else that of
``rm``. This is exact for all integers, and the compiler does not find it to be equal.

A mask is recomputed if it consists of comparisons of integer variables that are set once.

Gain: attention on an H200 with Triton 3.6 reaches 0.92 to 0.96 of a hand-written kernel for 0.87 to 0.90
(benchmarks/NOTES.md).
Switch: its row in ``PASSES``.
Try without it: after Triton 3.9, whose machine code still needs it (355 instructions for 366). With today's other
passes the gain is unclear: on an H100 with Triton 3.6 attention without it ran at 0.95 to 1.09 of the speed with
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace
from itertools import pairwise

from pytriton.lang.tree import typed
from pytriton.lang.tree.types import BOOL, INT, LONG, ScalarType, element_of, shape_of, with_element
from pytriton.lang.tree.walk import inside, map_bodies, names, statements
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import multiplies, never_set, set_once, with_body

_COMMENT = "computed again: kept over the loop, it would take registers from it"


def rematerialise(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """The kernel with such masks assigned again after the loop, before they are read there."""
    if not multiplies(kernel.body) or not any(map(_is_mask, statements(kernel.body))):
        return kernel
    once = set_once(kernel.body).keys()
    fixed = once | never_set(kernel)
    body = map_bodies(kernel.body, lambda body: _computed_again(body, once, fixed))
    return with_body(kernel, body)


def _is_mask(statement: typed.Statement) -> bool:
    return isinstance(statement, typed.Declare) and element_of(statement.symbol.type) == BOOL


def _computed_again(body: typed.Body, once: Set[typed.Symbol], fixed: Set[typed.Symbol]) -> typed.Body:
    copies: dict[int, list[typed.Statement]] = {}  # by the position before which they are inserted
    for at, statement in enumerate(body):
        if (
            not isinstance(statement, typed.Declare)
            or statement.symbol not in once
            or statement.value is None
        ):
            continue
        if not names(statement.value) <= fixed or (value := _otherwise(statement.value)) is None:
            continue
        if place := next(_places(body, at, statement.symbol), 0):
            again = typed.Assign(statement.span, statement.symbol, value, typed.Comments((_COMMENT,)))
            copies.setdefault(place, []).append(again)
    if not copies:
        return body
    return tuple(new for at, statement in enumerate(body) for new in (*copies.get(at, ()), statement))


def _places(body: typed.Body, declared: int, symbol: typed.Symbol) -> Iterator[int]:
    """The first uses of a variable after loops with a product that do not use it."""
    read = [at for at in range(declared + 1, len(body)) if symbol in inside(body[at]).reads]
    for before, after in pairwise(read):
        if any(map(_is_product_loop, body[before + 1 : after])):
            yield after


def _is_product_loop(statement: typed.Statement) -> bool:
    return isinstance(statement, typed.RangeLoop | typed.For | typed.While) and multiplies(statement.body)


def _otherwise(mask: typed.Expr) -> typed.Expr | None:
    """The same mask by other instructions; None if that is not possible for all of it."""
    match mask:
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand) if shape_of(operand.type):
            other = _otherwise(operand)
            return None if other is None else replace(mask, operand=other)
        case typed.Binary(operator="&&" | "||", left=left, right=right):
            new_left, new_right = _otherwise(left), _otherwise(right)
            if new_left is None or new_right is None:
                return None
            return replace(mask, left=new_left, right=new_right)
        case typed.Binary(operator="<" | "<=" | ">" | ">=", left=left, right=right):
            if not shape_of(mask.type) or not (_is_variable(left) and _is_variable(right)):
                return None
            if mask.operator in ("<", ">="):
                return _sign(mask, left, right, mask.operator)
            return _sign(mask, right, left, "<" if mask.operator == ">" else ">=")
    return None


def _is_variable(side: typed.Expr) -> bool:
    """Whether a side of a comparison is a variable of signed integers, possibly with new axes."""
    while isinstance(side, typed.Expand | typed.Broadcast):
        side = side.operand
    return isinstance(side, typed.Name) and element_of(side.type) in (INT, LONG)


def _sign(mask: typed.Expr, left: typed.Expr, right: typed.Expr, operator: str) -> typed.Expr:
    """``left < right`` or ``left >= right`` by the sign of the difference."""
    span, shape, element = mask.span, shape_of(mask.type), element_of(left.type)
    assert isinstance(element, ScalarType)
    type_, zero = with_element(element, shape), typed.Literal(span, element, 0)
    signs = typed.Binary(span, type_, "^", left, right)
    differ = typed.Binary(span, with_element(BOOL, shape), "<", signs, zero)
    difference = typed.Select(span, type_, differ, left, typed.Binary(span, type_, "-", left, right))
    return typed.Binary(span, mask.type, operator, difference, zero)
