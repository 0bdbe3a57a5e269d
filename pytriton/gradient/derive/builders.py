"""Typed expressions, put together as the rules of a derivative need them.

They are over the variables of the backward. An expression of the forward in them keeps its place, by which
lang/tree/unparse.py prints it as it was. The functions below follow C's conversions and NumPy's broadcasting,
and leave out what changes nothing (``x * 1``, ``- -x``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import NO_COMMENTS, Comments, Expr, Statement, Symbol
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    ElementType,
    PointerType,
    ScalarType,
    broadcast_shapes,
    common_scalar,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.unparse import ADDED, bare, element, sizes
from pytriton.lang.tree.walk import same


def shape(expr: Expr) -> tuple[int, ...]:
    return shape_of(expr.type)


def scalar(expr: Expr) -> ScalarType:
    """The type of an element; not of a pointer."""
    own = element(expr)
    assert isinstance(own, ScalarType)
    return own


def is_pointer(value: Expr | Symbol) -> bool:
    """Whether it is a pointer, or a block of them."""
    return isinstance(element_of(value.type), PointerType)


def variable(expr: Expr | None) -> Symbol | None:
    """The variable that an expression is."""
    inner = None if expr is None else bare(expr)
    return inner.symbol if isinstance(inner, typed.Name) else None


def inside(expr: Expr, *kinds: type[Any]) -> Expr:
    """What such conversions and changes of the shape are of."""
    while isinstance(expr, kinds):
        expr = expr.operand
    return expr


def opposite(expr: Expr) -> Expr | None:
    """The operand of a negation."""
    return expr.operand if isinstance(expr, typed.Unary) and expr.operator == "-" else None


def named(symbol: Symbol) -> Expr:
    """A variable."""
    return typed.Name(ADDED, symbol.type, symbol)


def declare(symbol: Symbol, value: Expr | None, comments: Comments = NO_COMMENTS) -> typed.Declare:
    """``T symbol = value;``"""
    return typed.Declare(ADDED, symbol, value, comments)


def assign(symbol: Symbol, value: Expr) -> typed.Assign:
    """``symbol = value;``"""
    return typed.Assign(ADDED, symbol, value)


def increase(symbol: Symbol, value: Expr) -> typed.Assign:
    """``symbol += value;``"""
    return assign(symbol, add(named(symbol), value))


def store(pointer: Expr, value: Expr, mask: Expr | None, site: int | None = None) -> typed.Store:
    """``*?(mask) pointer = value;``"""
    return typed.Store(ADDED, pointer, value, mask, site=site)


def add_to(pointer: Expr, value: Expr, mask: Expr | None) -> typed.Evaluate:
    """``atomic_add(pointer, value, mask);``"""
    return typed.Evaluate(ADDED, typed.Atomic(ADDED, value.type, "add", pointer, None, value, mask))


def loop(
    init: Iterable[typed.Declare],
    condition: Expr | None,
    step: Iterable[typed.Assign],
    body: Iterable[Statement],
    *above: str,
) -> typed.For:
    """``for (init; condition; step) { body }``"""
    return typed.For(ADDED, tuple(init), condition, tuple(step), tuple(body), Comments(above))


def number(value: float, element: ScalarType = INT) -> Expr:
    """A literal."""
    return typed.Literal(ADDED, element, value)


ZERO: Final = number(0)
ONE: Final = number(1)


def size(size: int) -> Expr:
    """A size of a block, as it is spelled."""
    return typed.Constexpr(ADDED, INT, sizes((size,)), int(size))


def alike(left: Expr | None, right: Expr | None) -> bool:
    """Whether two are written alike."""
    if left is None or right is None:
        return left is right
    return same(left, right)


def unique(formulas: Iterable[Expr]) -> list[Expr]:
    """Those that are written in different ways."""
    result: list[Expr] = []
    for formula in formulas:
        if not any(alike(formula, other) for other in result):
            result.append(formula)
    return result


def _shape(*formulas: Expr) -> tuple[int, ...]:
    common: tuple[int, ...] = ()
    for own in map(shape, formulas):
        joined = broadcast_shapes(common, own)
        assert joined is not None
        common = joined
    return common


def binary(operator: str, left: Expr, right: Expr) -> Expr:
    """``left operator right``; the type is C's."""
    own: ElementType
    if operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
        own = BOOL
    elif is_pointer(left) or operator in ("<<", ">>"):
        own = element(left)
    else:
        own = common_scalar(scalar(left), scalar(right))
    if operator == "@":
        type_ = with_element(own, (shape(left)[0], *shape(right)[1:]))
        return typed.Dot(ADDED, type_, left, right)
    return typed.Binary(ADDED, with_element(own, _shape(left, right)), operator, left, right)


def add(left: Expr, right: Expr) -> Expr:
    """The sum; a negated right operand is subtracted."""
    subtracted = opposite(right)
    return binary("+", left, right) if subtracted is None else binary("-", left, subtracted)


def multiply(left: Expr, right: Expr) -> Expr:
    """The product; signs go to the front."""
    first, second = opposite(left), opposite(right)
    if first is not None:
        return negated(multiply(first, right))
    if second is not None:
        return negated(multiply(left, second))
    if _is_one(left) or _is_one(right):
        return left if _is_one(right) else right
    return binary("*", left, right)


def over(left: Expr, right: Expr) -> Expr:
    """The quotient; signs go to the front."""
    inner = opposite(left)
    if inner is not None:
        return negated(over(inner, right))
    return left if _is_one(right) else binary("/", left, right)


def _is_one(formula: Expr) -> bool:
    expr = bare(formula)
    return isinstance(expr, typed.Literal) and expr.value == 1 and expr.span.text.strip() in ("", "1")


def negated(formula: Expr) -> Expr:
    return opposite(formula) or typed.Unary(ADDED, formula.type, "-", formula)


def inverted(formula: Expr) -> Expr:
    """``!condition``."""
    if isinstance(formula, typed.Unary) and formula.operator == "!":
        return formula.operand
    return typed.Unary(ADDED, with_element(BOOL, shape(formula)), "!", formula)


def both(left: Expr | None, right: Expr | None) -> Expr | None:
    """``left && right``; None holds everywhere."""
    if left is None or right is None or alike(left, right):
        return left or right
    return binary("&&", left, right)


def either(left: Expr, right: Expr) -> Expr:
    return left if alike(left, right) else binary("||", left, right)


def select(mask: Expr, yes: Expr, no: Expr) -> Expr:
    """``mask ? yes : no``."""
    own, other = element(yes), element(no)
    if isinstance(own, ScalarType) and isinstance(other, ScalarType):
        own = common_scalar(own, other)
    return typed.Select(ADDED, with_element(own, _shape(mask, yes, no)), mask, yes, no)


def call(function: str, element: ScalarType, *arguments: Expr) -> Expr:
    type_ = with_element(element, _shape(*arguments))
    return typed.Call(ADDED, type_, function, arguments)


def of_grid(function: str, axis: int) -> Expr:
    """``program_id`` or ``num_programs`` along an axis."""
    return call(function, INT, number(axis))


def program_number(axes: Iterable[int]) -> Expr:
    """The number of a program among those along some axes, the first axis fastest."""
    total, many = number(0), number(1)
    for at, axis in enumerate(axes):
        along = multiply(many, of_grid("program_id", axis))
        total = add(total, along) if at else along
        many = multiply(many, of_grid("num_programs", axis))
    return total


def load(pointer: Expr, mask: Expr | None = None) -> Expr:
    """What is in memory."""
    own = element(pointer)
    assert isinstance(own, PointerType)
    return typed.Load(ADDED, with_element(own.element, shape(pointer)), pointer, mask)


def lanes(size_: int) -> Expr:
    """``0 ... TN``."""
    type_ = with_element(INT, (size_,))
    return typed.Range(ADDED, type_, number(0), size(size_))


def count(shape: Sequence[int]) -> Expr:
    """How many elements a block has."""
    return functools.reduce(multiply, map(size, shape)) if shape else number(1)


def places(shape: Sequence[int]) -> Expr:
    """The number of each element of a block."""
    terms: list[Expr] = []
    for axis in range(len(shape)):
        term = expanded(lanes(shape[axis]), [at != axis for at in range(len(shape))])
        inner = shape[axis + 1 :]
        terms.append(multiply(term, count(inner)) if inner else term)
    return functools.reduce(add, terms)


def cast(formula: Expr, to: ScalarType) -> Expr:
    """Another element type; the formula itself where it has it."""
    if to == element(formula):
        return formula
    return typed.Cast(ADDED, with_element(to, shape(formula)), formula)


def filled(formula: Expr, to: tuple[int, ...]) -> Expr:
    """The elements repeated to this shape; the formula itself where it has it."""
    if to == shape(formula):
        return formula
    return typed.Broadcast(ADDED, with_element(element(formula), to), formula)


def expanded(formula: Expr, axes: Sequence[bool]) -> Expr:
    """``x[:, newaxis]``: True for a new axis."""
    if not any(axes):
        return formula
    old = iter(shape(formula))
    type_ = with_element(element(formula), tuple(1 if new else next(old) for new in axes))
    return typed.Expand(ADDED, type_, formula, tuple(map(bool, axes)))


def unexpanded(formula: Expr, axes: Sequence[int]) -> Expr | None:
    """What gained these axes."""
    if not isinstance(formula, typed.Expand):
        return None
    gained = tuple(at for at, new in enumerate(formula.axes) if new)
    return formula.operand if gained == tuple(axes) != () else None


def reduced(formula: Expr, axes: Iterable[int]) -> Expr:
    """``x[:, +]``: these axes are gone."""
    gone = sorted(axes, reverse=True)
    inner = opposite(formula)
    if gone and inner is not None:
        return negated(reduced(inner, gone))
    own, sizes = element(formula), list(shape(formula))
    own = common_scalar(own, INT) if isinstance(own, ScalarType) and own.is_integer else own
    for axis in gone:
        del sizes[axis]
        formula = typed.Reduce(ADDED, with_element(own, tuple(sizes)), "+", formula, axis)
    return formula


def permuted(formula: Expr, order: Sequence[int]) -> Expr:
    """Result axis i is operand axis ``order[i]``."""
    if list(order) == sorted(order):
        return formula
    type_ = with_element(element(formula), tuple(shape(formula)[at] for at in order))
    if len(order) == 2 and isinstance(formula, typed.Permute):
        return formula.operand
    product = bare(formula)
    if len(order) == 2 and isinstance(product, typed.Dot):
        left, right = (permuted(factor, order) for factor in (product.left, product.right))
        return replace(binary("@", right, left), type=type_)
    return typed.Permute(ADDED, type_, formula, tuple(order))


def is_harmless(expr: typed.Cast) -> bool:
    """Whether a conversion keeps every value and kind: half to float, int to double, what is float anyway."""
    to, of = element(expr), element(expr.operand)
    if not isinstance(to, ScalarType) or not isinstance(of, ScalarType):
        return True
    return to.is_float and (not of.is_float or to.bits >= of.bits)
