"""Typed expressions and declarations -> formulas, in the user's words.

The typed tree has C's implicit conversions in it; they are left out again where the same conversion happens by
itself, which is where node and operand stand at the same place in the text. Defines that are numbers keep their
names, and so do defines that name a type; other macros are printed as what they became.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pytriton.frozen import replace
from pytriton.gradient.derive.graph import refuse
from pytriton.gradient.derive.text import formula as f
from pytriton.gradient.derive.text.formula import Formula
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
    ElementType,
    PointerType,
    ScalarType,
    common_scalar,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import same, walk

__all__ = ["Speller"]

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
                return f.cast(self(expr.operand), _scalar(expr))
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
                return f.number(repr(symbol.value))
            case Name(symbol=symbol):
                return Formula(f.marked(self.number(symbol)), f.POSTFIX, _element(expr), shape_of(expr.type))
            case Unary(operator=operator, operand=operand):
                inner = self(operand)
                return (
                    f.negated(inner)
                    if operator == "-"
                    else Formula(f"{operator}{_tight(inner)}", f.UNARY, BOOL)
                )
            case Binary(operator=operator, left=left, right=right):
                return f.binary(operator, self(left), self(_converted_by(left, right)))
            case Select(condition=condition, yes=yes, no=no):
                test = self(condition)
                self._tested.append(condition)
                taken = self(yes)
                self._tested.pop()
                return f.select(test, taken, self(no))
            case Load():
                return self._load(expr)
            case Range(start=start, stop=stop):
                return Formula(f"{_tight(self(start))} ... {_tight(self(stop))}", 13, _element(expr))
            case Dot(left=left, right=right):
                return f.binary("@", self(left), self(right))
            case Call(function=function, arguments=arguments):
                named = _CALLED.get(function, function)
                return f.call(named, FLOAT, *map(self, arguments))
            case _:
                return self._shaped(expr)

    def _shaped(self, expr: Expr) -> Formula:
        match expr:
            case Expand(operand=operand, axes=axes):
                return f.expanded(self(operand), axes)
            case Permute(operand=operand, order=order):
                return f.permuted(self(operand), order)
            case Reduce(operand=operand, operator=operator, axis=axis):
                return f.reduced(self(operand), (axis,), operator)
            case Broadcast(operand=operand) | Reshape(operand=operand):
                inner, word = self(operand), self._word(expr)
                return Formula(f"({word}){_tight(inner)}", f.UNARY, _element(expr))
            case Cast(operand=operand) | Bitcast(operand=operand):
                inner, word = self(operand), self._word(expr)
                if isinstance(expr, Bitcast):
                    return Formula(f"bitcast<{word}>({inner.text})", f.POSTFIX, _element(expr))
                return Formula(f"({word}){_tight(inner)}", f.UNARY, _element(expr))
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
            return Formula(f"*{_tight(where)}", f.UNARY, where.element)
        if other is None or (isinstance(other, Literal) and other.span == expr.span):  # *?(mask) pointer
            return Formula(f"*?({self(mask).text}) {_tight(where)}", f.UNARY, where.element)
        load = Formula(f"*{_tight(where)}", f.UNARY, _element(other))
        return f.select(self(mask), load, self(other))

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
        return element if plain else f"{element}[{f.sizes(shape)}]"

    def _constant(self, expr: Literal | Constexpr) -> Formula:
        text = expr.span.text.strip()
        if isinstance(expr, Constexpr):
            return f.number(expr.name)
        if expr.type == BOOL:
            return f.number("true" if expr.value else "false")
        if expr.span.expansion is None and _NUMBER.fullmatch(text):
            return f.number(text)
        if isinstance(expr.value, float) and not math.isfinite(expr.value):
            if math.isnan(expr.value):
                refuse("TC702", "this constant is NaN", expr.span, help="pass it as a parameter")
            return f.number("F32_INFINITY" if expr.value > 0 else "-F32_INFINITY")
        suffix = "f" if self._strict and _element(expr) != DOUBLE and isinstance(expr.value, float) else ""
        return f.number(f"{expr.value!r}{suffix}")


def _tight(formula: Formula) -> str:
    return formula.text if formula.binds >= f.UNARY else f"({formula.text})"


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
