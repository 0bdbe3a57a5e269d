"""Which values of a kernel are equal whatever its arguments are, by numbering them.

Two expressions get one number where they are the same operation on the same numbers: ``s * n`` and ``n * s``, the
variables ``a`` and ``b`` after ``a = s + n; b = n + s``. Sums of integers are compared as sums, so ``x + 1 - 1`` is
``x``. A load is the same as an earlier one as long as nothing was written in between. ``constant`` is the value of
a number that does not depend on anything: ``x - x``, ``x != x`` of integers, ``3 > 2``.

Triton's compiler finds out the same (CSE, then folding); what it knows too late it stumbles over: see unreached.py.
"""

from __future__ import annotations

from typing import Any

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Atomic,
    Binary,
    Call,
    Cast,
    Constexpr,
    Expr,
    Literal,
    Load,
    Name,
    Select,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import PointerType, ScalarType, element_of
from pytriton.lang.tree.walk import children, plain_values, with_children
from pytriton.passes.analysis.affine import Affine, combine

__all__ = ["Known", "Numbering"]

Known = dict[Symbol, int]  # the number of a variable's value; of none that was never assigned

_COMMUTATIVE = frozenset(("*", "&", "|", "^", "==", "!=", "&&", "||"))
_REFLEXIVE = {"==": 1, "<=": 1, ">=": 1, "!=": 0, "<": 0, ">": 0, "^": 0}
_ABSORBING = {"*": 0, "&": 0, "&&": 0}


class Numbering:
    """Numbers for the values of one kernel, by what they are."""

    late: bool  # whether, since this was made False, a constant was found by more than folding

    def __init__(self) -> None:
        self.late = False
        self._numbers: dict[Any, int] = {}
        self._constants: dict[int, int | float] = {}
        self._sums: dict[int, Affine] = {}
        self._moment = 0

    def written(self) -> None:
        """Memory may have changed: no load after this is one before it."""
        self._moment += 1

    def new(self) -> int:
        """The number of a value of which nothing is known."""
        return self._number("new", len(self._numbers))

    def either(self, place: int, symbol: Symbol) -> int:
        """The number of a variable's value at a place to which several ways lead; ``place`` is a new number."""
        return self._number("either", place, symbol)

    def _number(self, *key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def constant(self, number: int) -> int | float | None:
        """The value with this number, where that is known."""
        return self._constants.get(number)

    def of(self, expr: Expr, known: Known) -> int:
        """The number of an expression's value, where the variables have those of ``known``."""
        match expr:
            case Name(symbol=symbol) if symbol.value is None:
                return self.value_of(symbol, known)
            case Literal() | Constexpr() | Name():
                value = constant(expr)
                return self._atom(expr) if value is None else self._literal(value, expr)
            case _:
                below = [self.of(child, known) for child in children(expr)]
                folded = self._folded(expr, below)
                number = self._operation(expr, below) if folded is None else folded
                self.late |= number in self._constants and any(b not in self._constants for b in below)
                return number

    def value_of(self, symbol: Symbol, known: Known) -> int:
        """The number of a variable's value."""
        return known[symbol] if symbol in known else self._number("variable", symbol)

    def _literal(self, value: int | float, expr: Expr) -> int:
        known = self._number("constant", repr(value), expr.type)
        self._constants[known] = value
        if isinstance(value, int) and _bits(expr):
            self._sums[known] = Affine.constant(value).modulo(1 << _bits(expr))
        return known

    def _atom(self, expr: Expr) -> int:
        return self._number("atom", id(type(expr)), expr.type, plain_values(expr))

    def _folded(self, expr: Expr, below: list[int]) -> int | None:
        """The number of an operation whose operands, or the likeness of them, decide it."""
        values = [self._constants.get(number) for number in below]
        match expr:
            case Binary(operator=operator):
                if _exact(expr.left) and below[0] == below[1] and operator in _REFLEXIVE:
                    return self._truth(_REFLEXIVE[operator], expr)
                if operator in _ABSORBING and 0 in values and _exact(expr.left):
                    return self._truth(0, expr)
                if operator == "||" and any(value is not None and value != 0 for value in values):
                    return self._truth(1, expr)
                if operator in "&|" and below[0] == below[1] and expr.type == expr.left.type:
                    return below[0]
            case Select():
                taken = below[1] if below[1] == below[2] or values[0] else below[2]
                if (below[1] == below[2] or values[0] is not None) and _alike(expr):
                    return taken
            case Cast(operand=operand) if expr.type == operand.type:
                return below[0]
        if below and None not in values and isinstance(expr.type, ScalarType):
            literals = iter([Literal(c.span, c.type, v) for c, v in zip(children(expr), values, strict=True)])  # type: ignore[arg-type]
            value = constant(with_children(expr, lambda _: next(literals)))
            if value is not None:
                return self._literal(value, expr)
        return None

    def _truth(self, value: int, expr: Expr) -> int | None:
        return self._literal(value, expr) if isinstance(expr.type, ScalarType) else None

    def _operation(self, expr: Expr, below: list[int]) -> int:
        total = self._sum(expr, below)
        if total is not None:
            if not total.terms:
                return self._literal(_signed(total.low, expr), expr)
            if total.low == 0 and list(total.terms.values()) == [1]:
                (known,) = total.terms
                return known  # type: ignore[no-any-return]
            known = self._number("sum", expr.type, total.key)
            self._sums[known] = total
            return known
        if isinstance(expr, Atomic) or (isinstance(expr, Call) and expr.function in ("barrier", "printf")):
            self.written()
            return self.new()
        moment = self._moment if isinstance(expr, Load) else None
        operands = tuple(below)
        if isinstance(expr, Binary) and (expr.operator in _COMMUTATIVE or expr.operator == "+"):
            operands = tuple(sorted(below))
        elements = tuple(child.type for child in children(expr))
        return self._number(type(expr), expr.type, plain_values(expr), operands, elements, moment)

    def _sum(self, expr: Expr, below: list[int]) -> Affine | None:
        """An integer as a sum of numbered values, modulo its width."""
        bits = _bits(expr)
        if not bits or not isinstance(expr, Unary | Binary) or not _alike(expr):
            return None
        operands = [self._sums.get(number) or Affine.symbol(number) for number in below]
        total = None
        match expr.operator:
            case "~":  # -x - 1
                total = operands[0].times(-1).plus(Affine.constant(-1))
            case "<<":
                by = self._constants.get(below[1])
                if isinstance(by, int) and 0 <= by < bits:
                    total = operands[0].times(1 << by)
            case operator:
                total = combine(operator, operands)
        return None if total is None else total.modulo(1 << bits)


def _bits(expr: Expr) -> int:
    """The width of a single integer, in which it wraps; 0 for any other value."""
    return expr.type.bits if isinstance(expr.type, ScalarType) and expr.type.is_integer else 0


def _alike(expr: Expr) -> bool:
    """Whether the operands, of a choice those to choose from, have the type of the whole."""
    operands = (expr.yes, expr.no) if isinstance(expr, Select) else children(expr)
    return all(operand.type == expr.type for operand in operands)


def _signed(number: int, expr: Expr) -> int:
    """The value that these bits are in the expression's type."""
    assert isinstance(expr.type, ScalarType)
    bits = expr.type.bits
    return number - (1 << bits) if expr.type.signed and number >> (bits - 1) else number


def _exact(expr: Expr) -> bool:
    """Whether a value of this type equals itself: all do but floats."""
    element = element_of(expr.type)
    return isinstance(element, PointerType) or not element.is_float
