"""Expressions of Triton-C as text that knows its type.

A ``Formula`` is a text, how tightly its outermost operator binds, the type of its elements and its shape. The
functions below put formulas together: they add the parentheses that C needs, follow C's conversions and NumPy's
broadcasting for the type, and leave out what changes nothing (``x * 1``, ``- -x``). A variable stands in the text
as its number between two marks, until ``print.py`` gives it a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from pytriton.frozen import dataclass, replace
from pytriton.lang.tree.typed import Binary, Cast, Constexpr, Literal, Size, Unary
from pytriton.lang.tree.types import (
    BOOL,
    INT,
    ElementType,
    PointerType,
    ScalarType,
    broadcast_shapes,
    common_scalar,
)
from pytriton.lang.tree.walk import walk

__all__ = [
    "ADDITIVE",
    "COMPARED",
    "POSTFIX",
    "UNARY",
    "Formula",
    "add",
    "binary",
    "both",
    "call",
    "cast",
    "condition",
    "either",
    "expanded",
    "filled",
    "inverted",
    "marked",
    "multiply",
    "negated",
    "number",
    "numbers_in",
    "permuted",
    "reduced",
    "select",
    "sizes",
]

POSTFIX: Final = 15
UNARY: Final = 14
ADDITIVE: Final = 10
COMPARED: Final = 8
_TERNARY: Final = 1
PRECEDENCE: Final = {
    "...": 13,
    "@": 12,
    **dict.fromkeys("*/%", 11),
    **dict.fromkeys("+-", ADDITIVE),
    **dict.fromkeys(("<<", ">>"), 9),
    **dict.fromkeys(("<", ">", "<=", ">="), COMPARED),
    **dict.fromkeys(("==", "!="), 7),
    "&": 6,
    "^": 5,
    "|": 4,
    "&&": 3,
    "||": 2,
}
_ASSOCIATIVE: Final = frozenset(("&&", "||"))
_MARK: Final = re.compile("\x01(\\d+)\x02")


@dataclass(frozen=True, slots=True)
class Formula:
    """``parts``: operator, left and right of a binary one, for ``x += y``. ``folded``: a negation's operand, or
    what ``x[:, newaxis]`` or ``^x`` was before, with the axes that it gained.
    """

    text: str
    binds: int
    element: ElementType
    shape: tuple[int, ...] = ()
    parts: tuple[str, Formula, Formula] | None = None
    folded: Formula | None = None
    gained: tuple[int, ...] = ()

    @property
    def is_name(self) -> bool:
        return _MARK.fullmatch(self.text) is not None

    @property
    def scalar(self) -> ScalarType:
        assert isinstance(self.element, ScalarType)
        return self.element


def marked(number_: int) -> str:
    """A variable in the text of a formula."""
    return f"\x01{number_}\x02"


def numbers_in(text: str) -> set[int]:
    """The variables of a text."""
    return set(map(int, _MARK.findall(text)))


def number(text: str, element: ScalarType = INT) -> Formula:
    """A literal."""
    return Formula(text, UNARY if text.startswith("-") else POSTFIX, element)


def _inside(formula: Formula, binds: int) -> str:
    return formula.text if formula.binds >= binds else f"({formula.text})"


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
    binds = PRECEDENCE[operator]
    first, second = binds, binds if operator in _ASSOCIATIVE else binds + 1
    if operator in ("*", "/", "%") and PRECEDENCE["..."] in (left.binds, right.binds):
        first = second = UNARY  # (0 ... TN) / BLOCK, as people write it
    element: ElementType
    if operator in ("<", ">", "<=", ">=", "==", "!=", "&&", "||"):
        element = BOOL
    elif isinstance(left.element, PointerType) or operator in ("<<", ">>"):
        element = left.element
    else:
        element = common_scalar(left.scalar, right.scalar)
    text = f"{_inside(left, first)} {operator} {_inside(right, second)}"
    shape = (left.shape[0], *right.shape[1:]) if operator == "@" else _shape(left, right)
    return Formula(text, binds, element, shape, (operator, left, right))


def add(left: Formula, right: Formula) -> Formula:
    """The sum; a negated right operand is subtracted."""
    if right.folded is not None and right.text.startswith("-"):
        return binary("-", left, right.folded)
    return binary("+", left, right)


def multiply(left: Formula, right: Formula) -> Formula:
    """The product; signs go to the front."""
    if left.folded is not None and left.text.startswith("-"):
        return negated(multiply(left.folded, right))
    if right.folded is not None and right.text.startswith("-"):
        return negated(multiply(left, right.folded))
    if "1" in (left.text, right.text):
        return left if right.text == "1" else right
    return binary("*", left, right)


def negated(formula: Formula) -> Formula:
    if formula.folded is not None and formula.text.startswith("-"):
        return formula.folded
    if formula.binds == PRECEDENCE["*"] and formula.parts is not None and formula.text[0] != "-":  # (-a) * b
        return replace(formula, text=f"-{formula.text}", folded=formula, parts=None, binds=PRECEDENCE["*"])
    text = f"-{_inside(formula, UNARY + formula.text.startswith('-'))}"
    return Formula(text, UNARY, formula.element, formula.shape, folded=formula)


def inverted(formula: Formula) -> Formula:
    """``!condition``."""
    if formula.text.startswith("!") and formula.folded is not None:
        return formula.folded
    text = f"!{_inside(formula, UNARY)}"
    return Formula(text, UNARY, BOOL, formula.shape, folded=formula)


def both(left: Formula | None, right: Formula | None) -> Formula | None:
    """``left && right``; None holds everywhere."""
    if left is None or right is None or left.text == right.text:
        return left or right
    return binary("&&", left, right)


def either(left: Formula, right: Formula) -> Formula:
    return left if left.text == right.text else binary("||", left, right)


def condition(operator: str, left: Formula, right: Formula) -> Formula:
    return binary(operator, left, right)


def select(mask: Formula, yes: Formula, no: Formula) -> Formula:
    """``mask ? yes : no``."""
    element: ElementType = yes.element
    if isinstance(yes.element, ScalarType) and isinstance(no.element, ScalarType):
        element = common_scalar(yes.element, no.element)
    text = f"{_inside(mask, _TERNARY + 1)} ? {_inside(yes, _TERNARY + 1)} : {_inside(no, _TERNARY + 1)}"
    return Formula(text, _TERNARY, element, _shape(mask, yes, no))


def call(function: str, element: ScalarType, *arguments: Formula) -> Formula:
    text = f"{function}({', '.join(argument.text for argument in arguments)})"
    return Formula(text, POSTFIX, element, _shape(*arguments))


def sizes(shape: Iterable[int]) -> str:
    """``TM, TK``: by the defines that gave the sizes, where no other names are in them."""
    return ", ".join(str(_plain(size)) for size in shape)


def _plain(size: int) -> int | str:
    expr = size.expr if isinstance(size, Size) else None
    if expr is None:
        return int(size)
    plain = all(isinstance(node, Literal | Constexpr | Unary | Binary | Cast) for node in walk(expr))
    return str(size) if plain else int(size)


def cast(formula: Formula, element: ScalarType, shape: tuple[int, ...] | None = None) -> Formula:
    """Another element type, or the elements repeated to a shape; the formula itself where it has both."""
    target = formula.shape if shape is None else shape
    if element == formula.element and target == formula.shape:
        return formula
    word = f"{element}[{sizes(target)}]" if target and target != formula.shape else str(element)
    return Formula(f"({word}){_inside(formula, UNARY)}", UNARY, element, target)


def filled(formula: Formula, shape: tuple[int, ...]) -> Formula:
    """Repeated to this shape."""
    return cast(formula, formula.scalar, shape)


def expanded(formula: Formula, axes: Sequence[bool]) -> Formula:
    """``x[:, newaxis]``: True for a new axis."""
    if not any(axes):
        return formula
    old = iter(formula.shape)
    shape = tuple(1 if new else next(old) for new in axes)
    gained = tuple(at for at, new in enumerate(axes) if new)
    inner = ", ".join("newaxis" if new else ":" for new in axes)
    text = (
        f"{_inside(formula, POSTFIX)}[{inner}]"
        if formula.shape
        else f"({formula.element}[{sizes(shape)}]){_inside(formula, UNARY)}"
    )
    binds = POSTFIX if formula.shape else UNARY
    return Formula(text, binds, formula.element, shape, folded=formula, gained=gained)


def reduced(formula: Formula, axes: Iterable[int], operator: str = "+") -> Formula:
    """``x[:, +]``: these axes are gone."""
    gone = set(axes)
    if not gone:
        return formula
    if operator == "+" and formula.text.startswith("-") and formula.folded is not None:
        return negated(reduced(formula.folded, gone))
    inner = ", ".join(operator if at in gone else ":" for at in range(len(formula.shape)))
    shape = tuple(size for at, size in enumerate(formula.shape) if at not in gone)
    element = common_scalar(formula.scalar, INT) if formula.scalar.is_integer else formula.element
    return Formula(f"{_inside(formula, POSTFIX)}[{inner}]", POSTFIX, element, shape)


def permuted(formula: Formula, order: Sequence[int]) -> Formula:
    """Result axis i is operand axis ``order[i]``."""
    if list(order) == sorted(order):
        return formula
    shape = tuple(formula.shape[at] for at in order)
    if len(order) == 2:
        if formula.folded is not None and formula.text.startswith("^"):
            return formula.folded
        if formula.parts is not None and formula.parts[0] == "@":
            _, left, right = formula.parts
            product = binary("@", permuted(right, order), permuted(left, order))
            return replace(product, element=formula.element, shape=shape)
        return Formula(f"^{_inside(formula, UNARY)}", UNARY, formula.element, shape, folded=formula)
    inner = ", ".join(f"^{at}" for at in order)
    return Formula(f"{_inside(formula, POSTFIX)}[{inner}]", POSTFIX, formula.element, shape)
