"""Expressions of Triton-C as text that knows its type.

A ``Formula`` is a text, how tightly its outermost operator binds, the type of its elements and its shape. The
functions below put formulas together: they add the parentheses that C needs, follow C's conversions and NumPy's
broadcasting for the type, and leave out what changes nothing (``x * 1``, ``- -x``). A variable stands in the text
as its number between two marks, until ``program.py`` gives it a name.

``Speller`` writes typed expressions in the user's words. The typed tree has C's implicit conversions in it; they
are left out again where the same conversion happens by itself, which is where node and operand stand at the same
place in the text. Defines that are numbers keep their names, and so do defines that name a type; other macros are
printed as what they became.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from pytriton.frozen import dataclass, replace
from pytriton.gradient.derive.graph import refuse
from pytriton.lang.grammar import PRECEDENCE
from pytriton.lang.tree.typed import (
    Binary,
    Bitcast,
    Broadcast,
    Call,
    Cast,
    Constexpr,
    Declare,
    Dot,
    Expand,
    Expr,
    Literal,
    Load,
    Name,
    Permute,
    Range,
    Reduce,
    Remark,
    Reshape,
    Select,
    Size,
    Statement,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    ElementType,
    PointerType,
    ScalarType,
    broadcast_shapes,
    common_scalar,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import same, walk

# How tightly an outermost operator binds, beside the binary ones.
POSTFIX: Final = 16
UNARY: Final = 15
_TERNARY: Final = 2
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


def _tight(formula: Formula) -> str:
    return _inside(formula, UNARY)


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


# ---------------------------------------------------------------- typed expressions

_NUMBER: Final = re.compile(r"-?(\d[\w.]*|\.\d[\w.]*|\d[\w.]*[eE][+-]\d+f?|F32_INFINITY|INFINITY)")
_WORDS: Final = frozenset(
    ("bool", "char", "short", "int", "long", "unsigned", "signed", "half", "float", "double", "bfloat16")
)
_CALLED: Final = {"program_id": "get_program_id", "num_programs": "get_num_programs"}


class Speller:
    """``number``: the number of a variable in formulas. ``known``: the name of a value that has one.
    ``types``: what the defines stand for that a declaration may name; ``stored``: those that parameters point to.
    """

    def __init__(
        self,
        number: Callable[[Symbol], int],
        known: Callable[[Expr], Formula | None],
        types: Mapping[str, str],
        strict: bool,
        parameters: Iterable[Symbol],
    ) -> None:
        self.number, self._known = number, known
        self._tested: list[Expr] = []  # the conditions of the branches of ?: that are being written
        self._types = types
        self._strict = strict
        pointers = [symbol for symbol in parameters if isinstance(symbol.type, PointerType)]
        self.stored: set[str] = set()
        self.stored = {self.type_word(symbol, Remark(symbol.span)) for symbol in pointers} & types.keys()

    def word(self, element: ElementType) -> str:
        """A type that nobody wrote: ``TYPE`` for half, where tensors are that."""
        defines = [word for word in self.stored if self._types[word] == str(element)]
        return defines[0] if len(defines) == 1 and element in (HALF, BFLOAT16, DOUBLE) else str(element)

    def type_word(self, symbol: Symbol, statement: Statement) -> str:
        """``ACC`` of ``ACC x[TN] = ...`` and of a parameter ``ACC *X``, as it was written if that means the same
        in another text.
        """
        element = element_of(symbol.type)
        text = statement.span.text if isinstance(statement, Declare) else ""
        text = symbol.declaration if symbol.parameter else text
        written = re.match(rf"([A-Za-z_][\w ]*?)[\s*]+{symbol.name}\b", text)
        words = written[1].split() if written else []
        if words and all(word in _WORDS or word in self._types for word in words):
            return " ".join(words)
        while isinstance(element, PointerType):
            element = element.element
        return self.word(element)

    def __call__(self, expr: Expr, *, exact: bool = False) -> Formula:
        """The expression; ``exact``: with a conversion that C would make only where it stood."""
        known = self._known(expr)
        if known is not None:
            return known
        if isinstance(expr, Cast) and expr.span == expr.operand.span and not _is_pointer(expr):
            if _in_macro(expr) or (exact and not _harmless(expr)):
                return cast(self(expr.operand), _scalar(expr))
            inner = self(expr.operand)
            return Formula(inner.text, inner.binds, _element(expr), inner.shape, inner.parts)
        if isinstance(expr, Broadcast) and expr.span == expr.operand.span:
            return self(expr.operand, exact=exact)
        result = self._node(expr)
        return replace(result, element=_element(expr), shape=shape_of(expr.type) or result.shape)

    def _node(self, expr: Expr) -> Formula:
        match expr:
            case Literal() | Constexpr():
                return self._constant(expr)
            case Name(symbol=symbol) if symbol.value is not None:
                return number(repr(symbol.value))
            case Name(symbol=symbol):
                return Formula(marked(self.number(symbol)), POSTFIX, _element(expr), shape_of(expr.type))
            case Unary(operator=operator, operand=operand):
                inner = self(operand)
                return (
                    negated(inner) if operator == "-" else Formula(f"{operator}{_tight(inner)}", UNARY, BOOL)
                )
            case Binary(operator=operator, left=left, right=right):
                return binary(operator, self(left), self(_converted_by(left, right)))
            case Select(condition=condition, yes=yes, no=no):
                test = self(condition)
                self._tested.append(condition)
                taken = self(yes)
                self._tested.pop()
                return select(test, taken, self(no))
            case Load():
                return self._load(expr)
            case Range(start=start, stop=stop):
                return Formula(
                    f"{_tight(self(start))} ... {_tight(self(stop))}", PRECEDENCE["..."], _element(expr)
                )
            case Dot(left=left, right=right):
                return binary("@", self(left), self(right))
            case Call(function=function, arguments=arguments):
                named = _CALLED.get(function, function)
                return call(named, FLOAT, *map(self, arguments))
            case _:
                return self._shaped(expr)

    def _shaped(self, expr: Expr) -> Formula:
        match expr:
            case Expand(operand=operand, axes=axes):
                return expanded(self(operand), axes)
            case Permute(operand=operand, order=order):
                return permuted(self(operand), order)
            case Reduce(operand=operand, operator=operator, axis=axis):
                return reduced(self(operand), (axis,), operator)
            case Broadcast(operand=operand) | Reshape(operand=operand):
                inner, word = self(operand), self._word(expr)
                return Formula(f"({word}){_tight(inner)}", UNARY, _element(expr))
            case Cast(operand=operand) | Bitcast(operand=operand):
                inner, word = self(operand), self._word(expr)
                if isinstance(expr, Bitcast):
                    return Formula(f"bitcast<{word}>({inner.text})", POSTFIX, _element(expr))
                return Formula(f"({word}){_tight(inner)}", UNARY, _element(expr))
            case _:
                refuse(
                    "TC702",
                    "this expression cannot be written again in a backward",
                    expr.span,
                    help="write it with other operators, or compute it before and pass it as a parameter",
                )

    def _load(self, expr: Load) -> Formula:
        where, mask, other = self(expr.pointer), expr.mask, expr.other
        if mask is None or any(same(mask, tested) for tested in self._tested):
            return Formula(f"*{_tight(where)}", UNARY, where.element)
        if other is None or (isinstance(other, Literal) and other.span == expr.span):  # *?(mask) pointer
            return Formula(f"*?({self(mask).text}) {_tight(where)}", UNARY, where.element)
        load = Formula(f"*{_tight(where)}", UNARY, _element(other))
        return select(self(mask), load, self(other))

    def _word(self, expr: Expr) -> str:
        """The type of a conversion, as it was written: by a define, without a shape that stays."""
        written = re.match(r"\(\s*(\w+)\s*(\[|\))", expr.span.text)
        element, shape = str(_element(expr)), shape_of(expr.type)
        if isinstance(expr, Reshape):
            element = self.word(_scalar(expr))
        if written is not None and self._types.get(written[1]) == element:
            element = written[1]
        stays = isinstance(expr, Cast) and shape == shape_of(expr.operand.type)
        plain = not shape or (stays and (written is None or written[2] == ")"))
        return element if plain else f"{element}[{sizes(shape)}]"

    def _constant(self, expr: Literal | Constexpr) -> Formula:
        text = expr.span.text.strip()
        if isinstance(expr, Constexpr):
            return number(expr.name)
        if expr.type == BOOL:
            return number("true" if expr.value else "false")
        if expr.span.expansion is None and _NUMBER.fullmatch(text):
            return number(text)
        if isinstance(expr.value, float) and not math.isfinite(expr.value):
            if math.isnan(expr.value):
                refuse("TC702", "this constant is NaN", expr.span, help="pass it as a parameter")
            return number("F32_INFINITY" if expr.value > 0 else "-F32_INFINITY")
        suffix = "f" if self._strict and _element(expr) != DOUBLE and isinstance(expr.value, float) else ""
        return number(f"{expr.value!r}{suffix}")


def _element(expr: Expr) -> ScalarType | PointerType:
    return element_of(expr.type)  # type: ignore[arg-type]


def _scalar(expr: Expr) -> ScalarType:
    element = _element(expr)
    assert isinstance(element, ScalarType)
    return element


def _is_pointer(expr: Expr) -> bool:
    return isinstance(_element(expr), PointerType)


def _in_macro(expr: Cast) -> bool:
    """Whether it came out of a macro, where all spans are one and no place tells what the user wrote."""
    where = expr.span.start, expr.span.end
    inside = any(
        node.span.expansion is not None and (node.span.start, node.span.end) == where
        for node in walk(expr.operand)
    )
    return inside and not (isinstance(expr.operand, Constexpr) and expr.span.text == expr.operand.name)


def _converted_by(left: Expr, right: Expr) -> Expr:
    """The right operand without a conversion that the left one causes by itself."""
    inner = right.operand if isinstance(right, Broadcast) else right
    other = left.operand if isinstance(left, Broadcast) else left
    kept = not isinstance(other, Cast) or other.span != other.operand.span or _in_macro(other)
    if not kept or not isinstance(inner, Cast) or _is_pointer(left) or not _in_macro(inner):
        return right
    to, of = _element(inner), _element(inner.operand)
    both = isinstance(to, ScalarType) and isinstance(of, ScalarType) and to == _element(other)
    return inner.operand if both and common_scalar(to, of) == to else right  # type: ignore[arg-type]


def _harmless(expr: Cast) -> bool:
    """Whether a conversion keeps every value and kind: half to float, int to double, what is float anyway."""
    to, of = _element(expr), _element(expr.operand)
    if not isinstance(to, ScalarType) or not isinstance(of, ScalarType):
        return True
    return to.is_float and (not of.is_float or to.bits >= of.bits)
