"""Typed expressions, put together as the rules of a derivative need them.

A ``Formula`` is a typed expression over the variables of the backward; an expression of the forward in it keeps
its place, by which lang/tree/unparse.py spells it as it was. The functions below follow C's conversions and NumPy's
broadcasting for the type, and leave out what changes nothing (``x * 1``, ``- -x``). ``Words`` are the user's names
of types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import NO_COMMENTS, Comments, Expr, Statement, Symbol
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    HALF,
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

_WORDS: Final = frozenset(
    ("bool", "char", "short", "int", "long", "unsigned", "signed", "half", "float", "double", "bfloat16")
)


@record
class Formula:
    expr: Expr

    @property
    def element(self) -> ElementType:
        return element(self.expr)

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.expr.type)

    @property
    def scalar(self) -> ScalarType:
        assert isinstance(self.element, ScalarType)
        return self.element

    @property
    def symbol(self) -> Symbol | None:
        """The variable that it is."""
        inner = bare(self.expr)
        return inner.symbol if isinstance(inner, typed.Name) else None

    @property
    def opposite(self) -> Formula | None:
        """What it is the negation of."""
        return _operand_of(self, typed.Unary, "-")

    def of(self, element: ElementType, shape: tuple[int, ...]) -> Formula:
        """The same, said to have another type."""
        return Formula(replace(self.expr, type=with_element(element, shape)))


def _operand_of(formula: Formula, kind: type[typed.Unary], operator: str) -> Formula | None:
    expr = formula.expr
    return Formula(expr.operand) if isinstance(expr, kind) and expr.operator == operator else None


def named(symbol: Symbol) -> Formula:
    """A variable."""
    return Formula(typed.Name(ADDED, symbol.type, symbol))


def declare(symbol: Symbol, value: Formula | None, comments: Comments = NO_COMMENTS) -> typed.Declare:
    """``T symbol = value;``"""
    return typed.Declare(ADDED, symbol, None if value is None else value.expr, comments)


def assign(symbol: Symbol, value: Formula) -> typed.Assign:
    """``symbol = value;``"""
    return typed.Assign(ADDED, symbol, value.expr)


def increase(symbol: Symbol, value: Formula) -> typed.Assign:
    """``symbol += value;``"""
    return assign(symbol, add(named(symbol), value))


def store(pointer: Formula, value: Formula, mask: Formula | None, site: int | None = None) -> typed.Store:
    """``*?(mask) pointer = value;``"""
    return typed.Store(ADDED, pointer.expr, value.expr, None if mask is None else mask.expr, site=site)


def add_to(pointer: Formula, value: Formula, mask: Formula | None) -> typed.Evaluate:
    """``atomic_add(pointer, value, mask);``"""
    masked = None if mask is None else mask.expr
    return typed.Evaluate(
        ADDED, typed.Atomic(ADDED, value.expr.type, "add", pointer.expr, None, value.expr, masked)
    )


def loop(
    init: Iterable[typed.Declare],
    condition: Formula | None,
    step: Iterable[typed.Assign],
    body: Iterable[Statement],
    *above: str,
) -> typed.For:
    """``for (init; condition; step) { body }``"""
    test = None if condition is None else condition.expr
    return typed.For(ADDED, tuple(init), test, tuple(step), tuple(body), Comments(above))


def number(value: float, element: ScalarType = INT) -> Formula:
    """A literal."""
    return Formula(typed.Literal(ADDED, element, value))


def size(size: int) -> Formula:
    """A size of a block, as it is spelled."""
    return Formula(typed.Constexpr(ADDED, INT, sizes((size,)), int(size)))


def alike(left: Formula | None, right: Formula | None) -> bool:
    """Whether two are written alike."""
    if left is None or right is None:
        return left is right
    return same(left.expr, right.expr)


def unique(formulas: Iterable[Formula]) -> list[Formula]:
    """Those that are written in different ways."""
    result: list[Formula] = []
    for formula in formulas:
        if not any(alike(formula, other) for other in result):
            result.append(formula)
    return result


def _shape(*formulas: Formula) -> tuple[int, ...]:
    shape: tuple[int, ...] = ()
    for formula in formulas:
        joined = broadcast_shapes(shape, formula.shape) if len(shape) >= len(formula.shape) else None
        joined = broadcast_shapes(formula.shape, shape) if joined is None else joined
        assert joined is not None
        shape = joined
    return shape


def binary(operator: str, left: Formula, right: Formula) -> Formula:
    """``left operator right``; the type is C's."""
    own: ElementType
    if operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
        own = BOOL
    elif isinstance(left.element, PointerType) or operator in ("<<", ">>"):
        own = left.element
    else:
        own = common_scalar(left.scalar, right.scalar)
    if operator == "@":
        type_ = with_element(own, (left.shape[0], *right.shape[1:]))
        return Formula(typed.Dot(ADDED, type_, left.expr, right.expr))
    return Formula(
        typed.Binary(ADDED, with_element(own, _shape(left, right)), operator, left.expr, right.expr)
    )


def add(left: Formula, right: Formula) -> Formula:
    """The sum; a negated right operand is subtracted."""
    if right.opposite is not None:
        return binary("-", left, right.opposite)
    return binary("+", left, right)


def multiply(left: Formula, right: Formula) -> Formula:
    """The product; signs go to the front."""
    if left.opposite is not None:
        return negated(multiply(left.opposite, right))
    if right.opposite is not None:
        return negated(multiply(left, right.opposite))
    if _is_one(left) or _is_one(right):
        return left if _is_one(right) else right
    return binary("*", left, right)


def _is_one(formula: Formula) -> bool:
    expr = bare(formula.expr)
    return isinstance(expr, typed.Literal) and expr.value == 1 and expr.span.text.strip() in ("", "1")


def negated(formula: Formula) -> Formula:
    if formula.opposite is not None:
        return formula.opposite
    return Formula(typed.Unary(ADDED, formula.expr.type, "-", formula.expr))


def inverted(formula: Formula) -> Formula:
    """``!condition``."""
    inner = _operand_of(formula, typed.Unary, "!")
    return inner or Formula(typed.Unary(ADDED, with_element(BOOL, formula.shape), "!", formula.expr))


def both(left: Formula | None, right: Formula | None) -> Formula | None:
    """``left && right``; None holds everywhere."""
    if left is None or right is None or alike(left, right):
        return left or right
    return binary("&&", left, right)


def either(left: Formula, right: Formula) -> Formula:
    return left if alike(left, right) else binary("||", left, right)


def select(mask: Formula, yes: Formula, no: Formula) -> Formula:
    """``mask ? yes : no``."""
    own: ElementType = yes.element
    if isinstance(yes.element, ScalarType) and isinstance(no.element, ScalarType):
        own = common_scalar(yes.element, no.element)
    return Formula(
        typed.Select(ADDED, with_element(own, _shape(mask, yes, no)), mask.expr, yes.expr, no.expr)
    )


def call(function: str, element: ScalarType, *arguments: Formula) -> Formula:
    type_ = with_element(element, _shape(*arguments))
    return Formula(typed.Call(ADDED, type_, function, tuple(argument.expr for argument in arguments)))


def load(pointer: Formula, mask: Formula | None = None) -> Formula:
    """What is in memory."""
    assert isinstance(pointer.element, PointerType)
    type_ = with_element(pointer.element.element, pointer.shape)
    return Formula(typed.Load(ADDED, type_, pointer.expr, None if mask is None else mask.expr))


def lanes(size_: int) -> Formula:
    """``0 ... TN``."""
    type_ = with_element(INT, (size_,))
    return Formula(typed.Range(ADDED, type_, number(0).expr, size(size_).expr))


def cast(formula: Formula, element: ScalarType, shape: tuple[int, ...] | None = None) -> Formula:
    """Another element type, or the elements repeated to a shape; the formula itself where it has both."""
    target = formula.shape if shape is None else shape
    if element == formula.element and target == formula.shape:
        return formula
    kind = typed.Cast if target == formula.shape else typed.Broadcast
    return Formula(kind(ADDED, with_element(element, target), formula.expr))


def filled(formula: Formula, shape: tuple[int, ...]) -> Formula:
    """Repeated to this shape."""
    return cast(formula, formula.scalar, shape)


def expanded(formula: Formula, axes: Sequence[bool]) -> Formula:
    """``x[:, newaxis]``: True for a new axis."""
    if not any(axes):
        return formula
    old = iter(formula.shape)
    shape = tuple(1 if new else next(old) for new in axes)
    return Formula(
        typed.Expand(ADDED, with_element(formula.element, shape), formula.expr, tuple(map(bool, axes)))
    )


def unexpanded(formula: Formula, axes: Sequence[int]) -> Formula | None:
    """What gained these axes."""
    expr = formula.expr
    if not isinstance(expr, typed.Expand):
        return None
    gained = tuple(at for at, new in enumerate(expr.axes) if new)
    return Formula(expr.operand) if gained == tuple(axes) != () else None


def reduced(formula: Formula, axes: Iterable[int], operator: Literal["+", "max", "min"] = "+") -> Formula:
    """``x[:, +]``: these axes are gone."""
    gone = sorted(axes, reverse=True)
    if not gone:
        return formula
    if operator == "+" and formula.opposite is not None:
        return negated(reduced(formula.opposite, gone))
    own = common_scalar(formula.scalar, INT) if formula.scalar.is_integer else formula.element
    expr, shape = formula.expr, list(formula.shape)
    for axis in gone:
        del shape[axis]
        expr = typed.Reduce(ADDED, with_element(own, tuple(shape)), operator, expr, axis)
    return Formula(expr)


def permuted(formula: Formula, order: Sequence[int]) -> Formula:
    """Result axis i is operand axis ``order[i]``."""
    if list(order) == sorted(order):
        return formula
    shape = tuple(formula.shape[at] for at in order)
    inner = formula.expr
    if len(order) == 2 and isinstance(inner, typed.Permute):
        return Formula(inner.operand)
    product = bare(inner)
    if len(order) == 2 and isinstance(product, typed.Dot):
        left, right = (permuted(Formula(each), order) for each in (product.left, product.right))
        return binary("@", right, left).of(formula.element, shape)
    return Formula(typed.Permute(ADDED, with_element(formula.element, shape), inner, tuple(order)))


class Words:
    """``types``: what the defines stand for that a declaration may name; ``stored``: those that parameters point
    to.
    """

    def __init__(self, types: Mapping[str, str], parameters: Iterable[Symbol]) -> None:
        self.types = types
        pointers = [symbol for symbol in parameters if isinstance(symbol.type, PointerType)]
        self.stored: set[str] = set()
        self.stored = {self.type_word(symbol) for symbol in pointers} & types.keys()

    def word(self, element: ElementType) -> str:
        """A type that is not in the source: ``TYPE`` for half, where tensors are that."""
        defines = [word for word in self.stored if self.types[word] == str(element)]
        return defines[0] if len(defines) == 1 and element in (HALF, BFLOAT16, DOUBLE) else str(element)

    def type_word(self, symbol: Symbol) -> str:
        """``ACC`` of ``ACC x[TN] = ...`` and of a parameter ``ACC *X``, as it was written if that means the same
        in another text.
        """
        own = element_of(symbol.type)
        written = re.match(rf"([A-Za-z_][\w ]*?)[\s*]+{symbol.name}\b", symbol.declaration)
        words = written[1].split() if written else []
        if words and all(word in _WORDS or word in self.types for word in words):
            return " ".join(words)
        while isinstance(own, PointerType):
            own = own.element
        return self.word(own)


def is_harmless(expr: typed.Cast) -> bool:
    """Whether a conversion keeps every value and kind: half to float, int to double, what is float anyway."""
    to, of = element(expr), element(expr.operand)
    if not isinstance(to, ScalarType) or not isinstance(of, ScalarType):
        return True
    return to.is_float and (not of.is_float or to.bits >= of.bits)
