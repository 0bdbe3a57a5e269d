"""Calculating with integer expressions: what is equal, what cancels, what one comparison says of another.

Sums are those of affine.py. ``i < k - T`` in the iteration before is ``i < k`` in this one, as
``k`` was ``k + T`` then; and where a loop goes on while ``k > 0``, ``k > T`` held at the end of every iteration
but the last. Integers are C's: sums may be taken apart and regrouped as they wrap. A comparison may only lose
what stands on both sides where the sums do not wrap; that is asked only of loop variables and their bounds (see
loops/counted.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Binary, Broadcast, Cast, Expr, Literal, Name, Select, Symbol, Unary
from pytriton.lang.tree.types import (
    BOOL,
    BlockType,
    PointerType,
    ScalarType,
    broadcast_shapes,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import names, same, walk, with_children
from pytriton.passes.analysis.affine import Affine, Keys, is_wide_integer, mirrored
from pytriton.passes.analysis.queries import larger_than, negated

__all__ = ["decides", "equal", "is_true", "one_step_back", "settle"]

_MAX_NODES = 300  # nodes; sums of more are compared as they are written
_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def equal(left: Expr, right: Expr) -> bool:
    """Whether two expressions have the same value, as far as sums tell; a variable is what it is."""
    if left is right:
        return True
    if larger_than(left, _MAX_NODES) or larger_than(right, _MAX_NODES):
        return same(left, right)
    if left.type != right.type:
        return False
    keys = Keys(regroup=True)
    return keys.of(left) == keys.of(right)


# ---------------------------------------------------------------- comparisons


def is_true(expr: Expr) -> bool:
    """Whether a condition holds whatever the variables are."""
    while isinstance(expr, Broadcast):
        expr = expr.operand
    return expr.type == BOOL and bool(constant(expr))


def settle(expr: Expr, facts: Sequence[Expr]) -> Expr:
    """The expression without those conditions in it that follow from the facts."""
    return _settled(expr, facts) if facts and decides(expr) else expr


def decides(expr: Expr) -> bool:
    """Whether there is a truth value in an expression."""
    for node in walk(expr):
        type_ = node.type
        if type_ is BOOL or (type_.__class__ is BlockType and type_.element is BOOL):
            return True
    return False


def _settled(expr: Expr, facts: Sequence[Expr]) -> Expr:
    expr = with_children(expr, lambda operand: _settled(operand, facts))
    match expr:
        case Binary(operator="&&", left=left, right=right):
            for side, other in ((left, right), (right, left)):
                if is_true(side) and shape_of(other.type) == shape_of(expr.type):
                    return other
        case Binary(operator="<" | "<=" | ">" | ">=" | "!=") if any(_follows(expr, fact) for fact in facts):
            return Literal(expr.span, BOOL, 1)
        case Select(condition=condition, yes=yes) if is_true(condition) and yes.type == expr.type:
            return yes
        case Binary() | Unary() | Cast() if expr.type == BOOL and constant(expr):
            return Literal(expr.span, BOOL, 1)
    return expr


def _follows(claim: Binary, fact: Expr) -> bool:
    """Whether a comparison holds where the fact does."""
    if not isinstance(fact, Binary) or not (_is_signed(claim) and _is_signed(fact)):
        return False
    keys = Keys(regroup=True)
    known = _positive(fact, keys)
    if known is None:
        return False
    if claim.operator == "!=":
        difference = keys.sum_of(claim.left).plus(keys.sum_of(claim.right), -1)
        claims = [difference, difference.times(-1)]
    else:
        positive = _positive(claim, keys)
        claims = [] if positive is None else [positive]
    gaps = [positive.plus(known, -1) for positive in claims]
    return any(not gap.terms and gap.low >= 0 for gap in gaps)


def _is_signed(comparison: Binary) -> bool:
    type_ = comparison.left.type
    return isinstance(type_, ScalarType) and type_.kind == "int" and type_ == comparison.right.type


def _positive(comparison: Binary, keys: Keys) -> Affine | None:
    """The sum that is above 0 exactly where the comparison holds; None where it is none of order."""
    if comparison.operator in (">", ">="):
        comparison = mirrored(comparison)
    if comparison.operator not in ("<", "<="):
        return None
    difference = keys.sum_of(comparison.right).plus(keys.sum_of(comparison.left), -1)
    return difference.plus(Affine.constant(1)) if comparison.operator == "<=" else difference


# ---------------------------------------------------------------- one iteration back

_Terms = list[tuple[bool, Expr]]  # whether it is added, and what


def one_step_back(expr: Expr, symbol: Symbol, step: Expr) -> Expr:
    """The expression with ``symbol - step`` for ``symbol``, and what that cancels gone."""
    if symbol not in names(expr):
        return expr
    terms: _Terms = [(True, expr)]
    if isinstance(expr, Name):
        _cancel(terms, [], symbol, step)
        return _joined(terms, expr)
    if isinstance(expr, Binary) and expr.operator in _COMPARISONS and is_wide_integer(expr.left.type):
        sides = _terms(expr.left), _terms(expr.right)
        if sum(_direct(term, symbol) for side in sides for _, term in side) == 1:
            own = next(place for place in (0, 1) if any(_direct(term, symbol) for _, term in sides[place]))
            _cancel(sides[own], sides[1 - own], symbol, step)
            left, right = (
                _joined([(add, _inside(term, symbol, step)) for add, term in side], expr.left)
                for side in sides
            )
            return Binary(expr.span, expr.type, expr.operator, left, right)
    if isinstance(expr, Binary) and expr.operator in ("+", "-") and _splits(expr):
        terms = _terms(expr)
        if sum(_direct(term, symbol) for _, term in terms) == 1:
            _cancel(terms, [], symbol, step)
            return _joined([(add, _inside(term, symbol, step)) for add, term in terms], expr)
    return with_children(expr, lambda operand: one_step_back(operand, symbol, step))


def _direct(term: Expr, symbol: Symbol) -> bool:
    return isinstance(term, Name) and term.symbol is symbol


def _inside(term: Expr, symbol: Symbol, step: Expr) -> Expr:
    return term if _direct(term, symbol) else one_step_back(term, symbol, step)


def _cancel(own: _Terms, other: _Terms, symbol: Symbol, step: Expr) -> None:
    """Add the step to the side where the symbol stands, or drop what it cancels on either side."""
    place = next(place for place, (_, term) in enumerate(own) if _direct(term, symbol))
    add = not own[place][0]
    if isinstance(step, Unary) or (isinstance(step, Literal) and step.value < 0):
        add, step = not add, negated(step)
    for side, sign in ((own, not add), (other, add)):
        for index, (added, term) in enumerate(side):
            if added == sign and equal(term, step):
                del side[index]
                return
    own.insert(place + 1, (add, step))


def _splits(expr: Binary) -> bool:
    """Whether a sum is one of integers, or of a pointer and integers; a difference of pointers is neither."""
    element, left = element_of(expr.type), element_of(expr.left.type)
    return element == left and (is_wide_integer(expr.type) or isinstance(element, PointerType))


def _terms(expr: Expr) -> _Terms:
    """What a sum adds and subtracts; what is added to a pointer is not taken apart."""
    match expr:
        case Binary(operator="+" | "-" as operator, left=left, right=right) if _splits(expr):
            terms = _terms(left)
            inner = _terms(right) if is_wide_integer(expr.type) else [(True, right)]
            terms += [(added == (operator == "+"), term) for added, term in inner]
            return terms
    return [(True, expr)]


def _joined(terms: _Terms, like: Expr) -> Expr:
    """The sum of terms, one that is added first; of none, a zero ``like`` the expression given."""
    start = next((place for place, (added, _) in enumerate(terms) if added), None)
    if start is None:
        terms = [(True, Literal(like.span, element_of(like.type), 0)), *terms]
        start = 0
    total = terms[start][1]
    for place, (added, term) in enumerate(terms):
        if place != start:
            shape = broadcast_shapes(shape_of(total.type), shape_of(term.type))
            assert shape is not None
            type_ = with_element(element_of(total.type), shape)
            total = Binary(total.span, type_, "+" if added else "-", total, term)
    return total
