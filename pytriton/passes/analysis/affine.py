"""Integers and pointers as affine expressions: a constant plus symbols with integer coefficients.

Input: a typed expression. Output: an ``Affine``, or None where the caller's ``leaf`` gives None. The caller
chooses the symbols: ``leaf`` maps every operand that is not itself a sum to an ``Affine``. So the same few
functions compare integers (``equal`` below), addresses (memory/overlap.py), tiles (speed/descriptors.py), masks
(speed/peel.py) and values (lower/unreached.py).

Invariants:

- no symbol has the coefficient 0, so equal sums are equal objects;
- C's integers wrap, and so may what is computed in 32 bits: a sum is exact modulo 2**32, and with ``exact`` also
  modulo 2**64, as addresses are. Pointers count in elements;
- a constant may be an interval, which represents the elements of a range, all different.

A conversion to an integer type of w bits changes a number v by a multiple of 2**w (C11 6.3.1.3, two's complement),
and by 0 if the new type holds every value of the old one. So it keeps all integers modulo 2**n if n <= w or
the new type holds the old one. No weaker rule is sound: if n > w and some v of the old type is not in the new one,
the result differs from v by a multiple of 2**w that is not 0 and less than 2**n, as every type has at most n bits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

from pytriton.frozen import record, replace
from pytriton.lang.recording import compare, prefer
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.types import (
    BOOL,
    BlockType,
    PointerType,
    ScalarType,
    Type,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import children, names, plain_values, rebuild, same, walk, with_children
from pytriton.passes.analysis.queries import Once, larger_than, negated

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


@record
class Affine:
    """``low ... high`` (inclusive) plus each symbol of ``terms`` times its coefficient."""

    terms: Mapping[Any, int]
    low: int = 0
    high: int = 0
    exact: bool = True

    @staticmethod
    def constant(value: int) -> Affine:
        """A constant."""
        return Affine({}, value, value)

    @staticmethod
    def symbol(name: Hashable) -> Affine:
        """A symbol with the coefficient 1."""
        return Affine({name: 1})

    @staticmethod
    def range(range_: typed.Range) -> Affine:
        """Any one element of a range."""
        return Affine({}, integer(range_.start), integer(range_.stop) - 1)

    @property
    def key(self) -> Hashable:
        """The sum as a key of dictionaries."""
        return self.low, self.high, frozenset(self.terms.items())

    def plus(self, other: Affine, times: int = 1) -> Affine:
        """This sum plus ``times`` the other."""
        terms = dict(self.terms)
        for term, count in other.terms.items():
            terms[term] = terms.get(term, 0) + times * count
        low, high = (other.low, other.high) if times >= 0 else (other.high, other.low)
        low, high = times * low, times * high
        terms = {term: count for term, count in terms.items() if count}
        return Affine(terms, self.low + low, self.high + high, self.exact and other.exact)

    def times(self, factor: int) -> Affine:
        """``factor`` times this sum."""
        return Affine({}).plus(self, factor)

    def modulo(self, size: int) -> Affine:
        """The same with a constant and coefficients from 0 to ``size`` (exclusive); it must have no interval."""
        assert self.low == self.high
        counts = {term: _remainder(count, size) for term, count in self.terms.items()}
        low = _remainder(self.low, size)
        return Affine({term: count for term, count in counts.items() if count}, low, low, self.exact)


def _remainder(number: int, size: int) -> int:
    """``number % size``, which stays a sum where it is near."""
    if prefer(number, ">=", 0):
        return number if prefer(number, "<", size) else number % size
    return number + size if prefer(number, ">=", -size) else number % size


Leaf = Callable[[typed.Expr], Affine | None]


def affine_of(expr: typed.Expr, leaf: Leaf) -> Affine | None:
    """An expression as a sum; None where ``leaf`` gives None for a part of it.

    ``2 * (n + 1) - m`` is ``2 + 2 * n - m``, where ``leaf`` gives one symbol each for ``n`` and ``m``.
    """
    value = constant(expr)
    if isinstance(value, int):
        return Affine.constant(value)
    if isinstance(expr, typed.Unary | typed.Binary) and expr.operator in ("+", "-", "*") and _regroups(expr):
        operands = [affine_of(operand, leaf) for operand in children(expr)]
        sums = [operand for operand in operands if operand is not None]
        if len(sums) == len(operands):
            total = combine(expr.operator, sums)
            return leaf(expr) if total is None else _computed_as(total, expr.type)
        if expr.operator != "*":
            return None
    return leaf(expr)


def affine_of_element(expr: typed.Expr, leaf: Leaf) -> Affine | None:
    """The same for any one element of a block: a range is an interval, and new axes do not matter."""

    return affine_of(expr, partial(_of_element, leaf))


def _of_element(leaf: Leaf, part: typed.Expr) -> Affine | None:
    match part:
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
            return affine_of_element(operand, leaf)
        case typed.Cast(operand=operand) if keeps_number(part):
            total = affine_of_element(operand, leaf)
            return total if total is None or keeps_number(part, 64) else _computed_as(total, part.type)
        case typed.Range():
            return Affine.range(part)
    return leaf(part)


def combine(operator: str, operands: Sequence[Affine]) -> Affine | None:
    """The sum that ``+``, ``-`` (of one operand or two) or ``*`` makes of sums; None of a product of variables."""
    match operator, operands:
        case "+", [left, right]:
            return left.plus(right)
        case "-", [left, right]:
            return left.plus(right, -1)
        case "-", [operand]:
            return operand.times(-1)
        case "*", [left, right]:
            for factor, other in ((left, right), (right, left)):
                if not factor.terms and compare(factor.low, "==", factor.high, optional=False):
                    return other.times(factor.low)
    return None


def _computed_as(total: Affine, type_: Type) -> Affine:
    """The sum as computed in a type, where it may wrap."""
    element = element_of(type_)
    if isinstance(element, PointerType) or element.bits > 32 or not total.exact:
        return total
    least = -(2**31) if element.signed else 0
    fits = total.low >= least and total.high < 2**31 and not total.terms
    return total if fits else replace(total, exact=False)


def is_wide_integer(type_: Type) -> bool:
    """Whether a type, or that of a block's elements, is an integer of at least 32 bits."""
    element = element_of(type_)
    return isinstance(element, ScalarType) and element.is_integer and element.bits >= 32


def _regroups(expr: typed.Unary | typed.Binary) -> bool:
    """Whether an operator gives a pointer, or an integer of at least 32 bits: so its operands may be regrouped."""
    if isinstance(element_of(expr.type), PointerType):
        return isinstance(expr, typed.Binary) and isinstance(element_of(expr.left.type), PointerType)
    return is_wide_integer(expr.type)


def keeps_number(expr: typed.Cast, bits: int = 32) -> bool:
    """Whether a conversion keeps every integer modulo 2**bits, or a pointer's element; the proof is above."""
    old, new = element_of(expr.operand.type), element_of(expr.type)
    if isinstance(old, PointerType) or isinstance(new, PointerType):
        return old == new
    if not old.is_integer or not new.is_integer or new == BOOL:
        return old == new
    capacity, taken = new.bits - new.signed, old.bits - old.signed  # without the sign
    return new.bits >= bits or (taken <= capacity and old.signed <= new.signed)


def advance(
    target: typed.Symbol, value: typed.Expr, values: Mapping[typed.Symbol, typed.Expr] | None = None
) -> typed.Expr | None:
    """The constant that ``target + amount`` or ``target - -amount`` adds; ``values``: values of variables."""
    if not isinstance(value, typed.Binary) or value.operator not in ("+", "-"):
        return None
    left, right = value.left, value.right
    if value.operator == "+" and isinstance(right, typed.Name) and right.symbol is target:
        left, right = right, left
    if not isinstance(left, typed.Name) or left.symbol is not target:
        return None
    while isinstance(right, typed.Broadcast | typed.Expand):
        right = right.operand
    amount = rebuild(right, dict(values or {}))
    if not isinstance(constant(amount), int):
        return None
    return negated(amount) if value.operator == "-" else amount


def mirrored(comparison: typed.Binary) -> typed.Binary:
    """``a < b`` as ``b > a``."""
    operator = _MIRRORED[comparison.operator]
    return typed.Binary(comparison.span, comparison.type, operator, comparison.right, comparison.left)


class Keys:
    """Numbers for expressions, so that many of them can be compared quickly.

    Two expressions have the same number if they are written alike (``same``); with ``regroup``, also if their
    integers are equal sums and their comparisons equal up to mirroring: ``n < 2 * k`` and ``k + k > n``.
    """

    def __init__(self, *, regroup: bool = False) -> None:
        self._regroup = regroup
        self._numbers: dict[Hashable, int] = {}
        self._numbered: Once[typed.Expr, int] = Once()

    def of(self, expr: typed.Expr) -> int:
        """The number of an expression."""
        return self._numbered(self._number_of, expr)

    def _number_of(self, expr: typed.Expr) -> int:
        sums = self._regroup and is_wide_integer(expr.type)
        return self._number(("sum", expr.type, self.sum_of(expr).key) if sums else self._as_written(expr))

    def sum_of(self, expr: typed.Expr) -> Affine:
        """An integer as a sum, whose symbols are the operands that are not sums."""
        total = affine_of(expr, lambda term: Affine.symbol(self._number(self._as_written(term))))
        assert total is not None
        return total

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _as_written(self, expr: typed.Expr) -> Hashable:
        """The key of an operation on its operands."""
        if self._regroup and isinstance(expr, typed.Binary) and expr.operator in (">", ">="):
            expr = mirrored(expr)
        return type(expr), expr.type, plain_values(expr), tuple(map(self.of, children(expr)))


# ---------------------------------------------------------------- linear
# Integer expressions: which are equal, what cancels, which comparison implies another.
#
# ``i < k - T`` in the iteration before is ``i < k`` in this one, as ``k`` was ``k + T`` then; and in a loop that
# continues while ``k > 0``, ``k > T`` held at the end of every iteration but the last. Integers are C's: sums may
# be regrouped, as they wrap. Equal terms on both sides of a comparison cancel only where the sums do not wrap; this
# is used only for loop variables and their bounds (see loops/counted.py).


_MAX_NODES = 300  # nodes; sums of more are compared as they are written
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def equal(left: typed.Expr, right: typed.Expr) -> bool:
    """Whether two expressions have the same value for all values of their variables, as far as sums show."""
    if left is right:
        return True
    if larger_than(left, _MAX_NODES) or larger_than(right, _MAX_NODES):
        return same(left, right)
    if left.type != right.type:
        return False
    keys = Keys(regroup=True)
    return keys.of(left) == keys.of(right)


# ---------------------------------------------------------------- comparisons


def is_true(expr: typed.Expr) -> bool:
    """Whether a condition is the constant true."""
    while isinstance(expr, typed.Broadcast):
        expr = expr.operand
    return expr.type == BOOL and bool(constant(expr))


def settle(expr: typed.Expr, facts: Sequence[typed.Expr]) -> typed.Expr:
    """The expression without the conditions in it that follow from the facts."""

    def holds(claim: typed.Expr) -> bool:
        if not isinstance(claim, typed.Binary | typed.Unary | typed.Cast):
            return False
        return bool(constant(claim)) or any(_follows(claim, fact) for fact in facts)

    return simplified(expr, holds) if facts and decides(expr) else expr


def decides(expr: typed.Expr) -> bool:
    """Whether an expression contains a truth value."""
    for node in walk(expr):
        type_ = node.type
        if type_ is BOOL or (type_.__class__ is BlockType and type_.element is BOOL):
            return True
    return False


def simplified(expr: typed.Expr, holds: Callable[[typed.Expr], bool]) -> typed.Expr:
    """The expression without the conditions in it of which ``holds`` is true, and without what these decide."""
    before, expr = expr, with_children(expr, lambda operand: simplified(operand, holds))
    match expr:
        case typed.Binary(operator="&&", left=left, right=right):
            for side, other in ((left, right), (right, left)):
                if is_true(side):
                    return _of_type(other, expr.type)
        case typed.Select(condition=condition, yes=yes) if is_true(condition):
            return _of_type(yes, expr.type)
        case typed.Load(mask=mask) if mask is not None and is_true(mask):
            return replace(expr, mask=None, other=None)
        case typed.Load(mask=typed.Broadcast(operand=mask)) if expr is not before:
            same_rank = len(shape_of(mask.type)) == len(shape_of(expr.type))
            return replace(expr, mask=mask) if same_rank else expr
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand) if is_true(operand):
            return _truth(expr)
        case _ if element_of(expr.type) == BOOL and holds(expr):
            return _truth(expr)
    return expr


def _of_type(expr: typed.Expr, type_: Type) -> typed.Expr:
    return expr if expr.type == type_ else typed.Broadcast(expr.span, type_, expr)


def _truth(expr: typed.Expr) -> typed.Expr:
    """True in the shape of a condition."""
    return _of_type(typed.Literal(expr.span, BOOL, 1), expr.type)


def _follows(claim: typed.Expr, fact: typed.Expr) -> bool:
    """Whether a condition is a comparison that holds where the fact does."""
    if not isinstance(claim, typed.Binary) or not isinstance(fact, typed.Binary):
        return False
    if not (_is_signed(claim) and _is_signed(fact)):
        return False
    keys = Keys(regroup=True)
    assumed = _positive(fact, keys)
    if assumed is None:
        return False
    if claim.operator == "!=":
        difference = keys.sum_of(claim.left).plus(keys.sum_of(claim.right), -1)
        claims = [difference, difference.times(-1)]
    else:
        positive = _positive(claim, keys)
        claims = [] if positive is None else [positive]
    gaps = [positive.plus(assumed, -1) for positive in claims]
    return any(not gap.terms and gap.low >= 0 for gap in gaps)


def _is_signed(comparison: typed.Binary) -> bool:
    type_ = comparison.left.type
    return isinstance(type_, ScalarType) and type_.kind == "int" and type_ == comparison.right.type


def _positive(comparison: typed.Binary, keys: Keys) -> Affine | None:
    """The sum that is above 0 exactly where an order comparison holds; None for others."""
    if comparison.operator in (">", ">="):
        comparison = mirrored(comparison)
    if comparison.operator not in ("<", "<="):
        return None
    difference = keys.sum_of(comparison.right).plus(keys.sum_of(comparison.left), -1)
    return difference.plus(Affine.constant(1)) if comparison.operator == "<=" else difference


# ---------------------------------------------------------------- one iteration back

_Terms = list[tuple[bool, typed.Expr]]  # whether it is added, and what


def one_step_back(expr: typed.Expr, symbol: typed.Symbol, step: typed.Expr) -> typed.Expr:
    """The expression with ``symbol - step`` for ``symbol``, and cancelled terms removed."""
    if symbol not in names(expr):
        return expr
    compares = (
        isinstance(expr, typed.Binary) and expr.operator in _COMPARISONS and is_wide_integer(expr.left.type)
    )
    operands = children(expr) if compares else (expr,)
    sides = [_terms(side) for side in operands]
    own = [side for side in sides for _, term in side if _direct(term, symbol)]
    if len(own) == 1:
        _cancel(own[0], [side for side in sides if side is not own[0]], symbol, step)
        left, *right = (
            _joined([(add, _inside(term, symbol, step)) for add, term in side], operands[0]) for side in sides
        )
        return replace(expr, left=left, right=right[0]) if compares else left
    return with_children(expr, lambda operand: one_step_back(operand, symbol, step))


def _direct(term: typed.Expr, symbol: typed.Symbol) -> bool:
    return isinstance(term, typed.Name) and term.symbol is symbol


def _inside(term: typed.Expr, symbol: typed.Symbol, step: typed.Expr) -> typed.Expr:
    return term if _direct(term, symbol) else one_step_back(term, symbol, step)


def _cancel(own: _Terms, others: list[_Terms], symbol: typed.Symbol, step: typed.Expr) -> None:
    """Add the step on the side of the symbol, or drop the term that it cancels on either side."""
    place = next(place for place, (_, term) in enumerate(own) if _direct(term, symbol))
    add = not own[place][0]
    if isinstance(step, typed.Unary) or (isinstance(step, typed.Literal) and step.value < 0):
        add, step = not add, negated(step)
    for side, sign in ((own, not add), *[(other, add) for other in others]):
        for index, (added, term) in enumerate(side):
            if added == sign and equal(term, step):
                del side[index]
                return
    own.insert(place + 1, (add, step))


def _splits(expr: typed.Binary) -> bool:
    """Whether a sum is of integers, or of a pointer and integers, not a difference of pointers."""
    element, left = element_of(expr.type), element_of(expr.left.type)
    return element == left and (is_wide_integer(expr.type) or isinstance(element, PointerType))


def _terms(expr: typed.Expr) -> _Terms:
    """The terms that a sum adds and subtracts; an offset of a pointer is one term."""
    match expr:
        case typed.Binary(operator="+" | "-" as operator, left=left, right=right) if _splits(expr):
            terms = _terms(left)
            inner = _terms(right) if is_wide_integer(expr.type) else [(True, right)]
            terms += [(added == (operator == "+"), term) for added, term in inner]
            return terms
    return [(True, expr)]


def _joined(terms: _Terms, like: typed.Expr) -> typed.Expr:
    """The sum of terms, beginning with one that is added; without terms a zero ``like`` the given expression."""
    start = next((place for place, (added, _) in enumerate(terms) if added), None)
    if start is None:
        terms = [(True, typed.Literal(like.span, element_of(like.type), 0)), *terms]
        start = 0
    total = terms[start][1]
    for place, (added, term) in enumerate(terms):
        if place != start:
            shape = broadcast_shapes(shape_of(total.type), shape_of(term.type))
            assert shape is not None
            type_ = with_element(element_of(total.type), shape)
            total = typed.Binary(total.span, type_, "+" if added else "-", total, term)
    return total


# ---------------------------------------------------------------- sums of indices from 0 to known ends
# ``steps`` are the coefficients of symbols, each of which takes ``ranges[symbol]`` values from 0; each bound is a
# sum that is at most 0. The sums are all different if, in order of growing steps, each step is larger than the
# range of all before it, like the digits of a number. They are exactly 0 to n - 1 if each step is the count of all
# before.

Ranges = Mapping[Any, int]


def shorten(ranges: dict[Any, int], bound: Affine) -> None:
    """Shorten ranges to what a bound allows."""
    if not bound.terms.keys() <= ranges.keys():
        return
    least = {key: min(0, step * (ranges[key] - 1)) for key, step in bound.terms.items()}
    for key, step in bound.terms.items():
        if step > 0:
            rest = bound.low + sum(least.values()) - least[key]
            ranges[key] = min(ranges[key], max(0, -rest // step + 1))


def distinct(steps: Ranges, ranges: Ranges, bounds: Sequence[Affine]) -> bool:
    """Whether all sums are different: each step is larger than the range of all smaller ones."""
    extents = _extents(steps, ranges, bounds)
    return all(step > extent for step, extent in zip(sorted(map(abs, steps.values())), extents, strict=False))


def reach(steps: Ranges, ranges: Ranges, bounds: Sequence[Affine]) -> int | None:
    """The largest sum; None if some are negative."""
    return None if any(step < 0 for step in steps.values()) else _extents(steps, ranges, bounds)[-1]


def _extents(steps: Ranges, ranges: Ranges, bounds: Sequence[Affine]) -> list[int]:
    """The ranges of no step, of the smallest step, of the two smallest, ..."""
    done: list[Hashable] = []
    extents = [0]
    for key in sorted(steps, key=lambda key: abs(steps[key])):
        done.append(key)
        extent = extents[-1] + abs(steps[key]) * (ranges[key] - 1)
        for bound in bounds:
            limited = _limited(bound, {key: steps[key] for key in done}, ranges)
            extent = extent if limited is None else min(extent, limited)
        extents.append(extent)
    return extents


def within(bound: Affine, ranges: Ranges) -> Affine | None:
    """A bound restricted to these ranges; None where it always holds."""
    steps = {key: step for key, step in bound.terms.items() if key in ranges}
    largest = bound.low + sum(max(0, step * (ranges[key] - 1)) for key, step in steps.items())
    return replace(bound, terms=steps) if largest > 0 else None


def dense(steps: Ranges, ranges: Ranges, bounds: list[Affine]) -> int | None:
    """The number n of sums if they are exactly 0 to n - 1, else None; a bound ends a run of steps."""
    extent = 1
    run: list[Hashable] = []
    for key in sorted(ranges, key=lambda key: steps.get(key, 0)):
        if steps.get(key, 0) != extent:
            return None
        run.append(key)
        extent *= ranges[key]
        for bound in list(bounds):
            at = len(run) - len(bound.terms)
            unit = steps[run[at]] if bound.terms and at >= 0 else 0
            if unit and bound.terms == {member: steps[member] // unit for member in run[at:]}:
                extent = min(extent, unit * max(0, 1 - bound.low))
                bounds.remove(bound)
                run = []
                break
    return None if bounds else extent


def _limited(bound: Affine, steps: Ranges, ranges: Ranges) -> int | None:
    """The range of a sum of which a part is a multiple of the sum in a bound."""
    inside = {key: step for key, step in bound.terms.items() if ranges.get(key, 2) > 1}
    if not inside.keys() <= steps.keys():
        return None
    factors = {steps[key] / inside[key] for key in inside}
    if len(factors) != 1 or (factor := factors.pop()) <= 0 or factor != int(factor):
        return None
    least = sum(min(0, steps[key] * (ranges[key] - 1)) for key in inside)
    others = sum(abs(step) * (ranges[key] - 1) for key, step in steps.items() if key not in inside)
    return max(0, int(factor) * -bound.low - least) + others
