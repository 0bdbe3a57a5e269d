"""Numbers of defines that record what is asked of them.

A define set is executed, not sampled: the number of a define enters the translator as a ``RecordedInt``, an int
that carries the term over define names which computes it. Arithmetic builds larger terms; every comparison goes
into the log of the translation, with its outcome. Other values with the same outcomes give the same translation.

Input: ``Log.number``. Output: ``Log.entries``, from which conditions.py makes the conditions of a translation.
Invariants: a comparison of two equal terms, or of two constants, records nothing, as it has one outcome; what
leaves the arithmetic (``int(x)``, ``str(x)``, ``float(x)``) records that its term has this value; a
hash is that of the term, so that in sets and dictionaries two numbers are equal where their terms are, whatever
their values. A ``RecordedInt`` ends with its translation: ``plain`` and ``instantiated`` are what leaves it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any, Final, Literal, NoReturn, Self

from pytriton.frozen import record, replace
from pytriton.source import Span

Term = str | int | tuple[Any, ...]
"""A define by its name, an integer, ``("float", hex)``, or an operator and its operands."""

Role = Literal["required", "enforced", "optional"]
"""``enforced``: Triton refuses other values by itself. ``optional``: other values are right, too."""

NEGATED: Final[Mapping[str, str]] = {
    "==": "!=",
    "!=": "==",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
    "is": "is not",  # of floats, by their bits
    "is_power_of_2": "is_not_power_of_2",
}
_MIRRORED: Final[Mapping[str, str]] = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_STRICTNESS: Final[Mapping[Role, int]] = {"optional": 0, "enforced": 1, "required": 2}


@record
class Comparison:
    """A comparison and its outcome. That of integers is written so that it holds; floats may be unordered."""

    operator: str
    left: Term
    right: Term = 0
    holds: bool = True


@record
class Requirement:
    """What an outcome is to the translation, and the place that asked first."""

    role: Role
    span: Span | None


class Log:
    """The comparisons of one translation, in order."""

    def __init__(self) -> None:
        self.entries: dict[Comparison, Requirement] = {}
        self.asked: dict[tuple[Any, ...], bool] = {}  # the questions, and their answers
        self.computed: dict[tuple[Any, ...], Any] = {}  # the numbers that were computed, by operation

    def number(self, name: str, value: int | float) -> int | float:
        """The number of a define."""
        kind: Any = RecordedFloat if isinstance(value, float) else RecordedInt
        return kind(value, name, self)  # type: ignore[no-any-return]

    def add(self, comparison: Comparison, span: Span | None, role: Role = "required") -> None:
        """Note a comparison; of several roles the strictest counts."""
        before = self.entries.setdefault(comparison, Requirement(role, span))
        if _STRICTNESS[role] > _STRICTNESS[before.role]:
            self.entries[comparison] = replace(before, role=role)

    def end(self) -> None:
        """Forget what only later questions need; it refers to this log, a cycle for the garbage collector."""
        self.asked.clear()
        self.computed.clear()

    def replay(self, entries: Mapping[Comparison, Requirement]) -> None:
        """Note what a cached result depends on."""
        for comparison, entry in entries.items():
            self.add(comparison, entry.span, entry.role)


# ---------------------------------------------------------------- numbers

_NUMBERS: Final = (int, float)


def _arithmetic(sign: str, reflected: bool = False) -> Any:
    """A method that computes. Python prefers the reflected method of a subclass, so ``1 + x`` comes here, too."""
    if reflected:
        return lambda self, other: _computed(sign, other, self)
    return lambda self, other: _computed(sign, self, other)


def _comparison(sign: str) -> Any:
    """A method that compares."""

    def method(self: Any, other: object) -> bool:
        return compare(self, sign, other) if isinstance(other, _NUMBERS) else NotImplemented

    return method


class _Recording:
    """The methods of both kinds of numbers."""

    term: Term
    log: Log
    span: Span | None

    __add__, __radd__ = _arithmetic("+"), _arithmetic("+", True)
    __sub__, __rsub__ = _arithmetic("-"), _arithmetic("-", True)
    __mul__, __rmul__ = _arithmetic("*"), _arithmetic("*", True)
    __truediv__, __rtruediv__ = _arithmetic("/"), _arithmetic("/", True)
    __floordiv__, __rfloordiv__ = _arithmetic("//"), _arithmetic("//", True)
    __mod__, __rmod__ = _arithmetic("%"), _arithmetic("%", True)
    __lshift__, __rlshift__ = _arithmetic("<<"), _arithmetic("<<", True)
    __rshift__, __rrshift__ = _arithmetic(">>"), _arithmetic(">>", True)
    __and__, __rand__ = _arithmetic("&"), _arithmetic("&", True)
    __or__, __ror__ = _arithmetic("|"), _arithmetic("|", True)
    __xor__, __rxor__ = _arithmetic("^"), _arithmetic("^", True)
    __eq__, __ne__ = _comparison("=="), _comparison("!=")
    __lt__, __le__ = _comparison("<"), _comparison("<=")
    __gt__, __ge__ = _comparison(">"), _comparison(">=")

    def __neg__(self) -> Any:
        return of_one("neg", self, -plain(self)) if isinstance(self, float) else _computed("-", 0, self)

    def __pos__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return compare(self, "!=", 0)  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash(("recorded", self.term))

    def __int__(self) -> int:
        return int(pinned(self))

    def __index__(self) -> int:
        return operator.index(pinned(self))

    def __float__(self) -> float:
        return float(pinned(self))

    def __repr__(self) -> str:
        return repr(pinned(self))

    def __str__(self) -> str:
        return str(pinned(self))

    def __format__(self, spec: str) -> str:
        return format(pinned(self), spec)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a recorded number ends with its translation")

    def _unrecorded(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("there is no record of this; use pinned()")

    __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _unrecorded
    __round__ = __trunc__ = __floor__ = __ceil__ = _unrecorded
    bit_count = to_bytes = as_integer_ratio = hex = conjugate = _unrecorded


class RecordedInt(_Recording):
    """An integer computed from defines: of the classes that are also an int."""

    _products: Products | None

    def __new__(cls, value: int, term: Term, log: Log, span: Span | None = None) -> Any:
        kind: Any = RecordedNumber if cls is RecordedInt else cls
        self = int.__new__(kind, plain(value))
        self.term, self.log, self.span = term, log, span
        self._products = None
        return self

    @property
    def products(self) -> Products:
        """The number as a sum of products."""
        if self._products is None:
            self._products = polynomial(self.term)
        return self._products

    def __invert__(self) -> Any:
        return -1 - self

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def bit_length(self) -> Any:
        return of_one("bit_length", self, plain(self).bit_length())


class RecordedNumber(RecordedInt, int):
    """Such an int, with nothing else."""


class RecordedFloat(_Recording, float):
    """A floating number computed from defines. Comparisons are Python's; ``pinned`` compares bits."""

    def __new__(cls, value: float, term: Term, log: Log, span: Span | None = None) -> Self:
        self = super().__new__(cls, plain(value))
        self.term, self.log, self.span = term, log, span
        return self

    def __abs__(self) -> Any:
        return of_one("abs", self, abs(plain(self)))

    def is_integer(self) -> bool:
        return float.is_integer(pinned(self))


def at(value: int | float, span: Span) -> Any:
    """The number as it is used at a place."""
    if isinstance(value, _Recording):
        kind: Any = RecordedFloat if isinstance(value, float) else RecordedInt
        return kind(value, value.term, value.log, span)
    return value


def plain(value: Any) -> Any:
    """The value without its record: for what was recorded already, or decides nothing."""
    if value.__class__ is int:
        return value
    return float.__float__(value) if isinstance(value, float) else int.__int__(value)


def pinned(value: Any) -> Any:
    """The value, after the record that its term has it."""
    if isinstance(value, RecordedFloat):
        value.log.add(Comparison("is", value.term, term_of(plain(value))), value.span)
    elif is_recorded(value):
        compare(value, "==", plain(value))
    return plain(value)


def names_in(term: Term) -> Iterator[str]:
    """The defines in a term."""
    if isinstance(term, str):
        yield term
    elif isinstance(term, tuple) and term[0] != "float":
        for operand in term[1:]:
            yield from names_in(operand)


def term_of(value: int | float) -> Term:
    """The term that computes a number."""
    if value.__class__ is int:
        return value
    if isinstance(value, _Recording):
        return value.term
    return ("float", value.hex()) if isinstance(value, float) else int(value)


def is_recorded(value: object) -> bool:
    """Whether a number depends on a define."""
    return isinstance(value, _Recording)


# ---------------------------------------------------------------- comparisons


def compare(
    left: int | float,
    sign: str,
    right: int | float,
    *,
    optional: bool | None = None,
    enforced: bool | None = None,
) -> bool:
    """Whether a comparison holds. ``optional``, ``enforced``: the outcome that has this role."""
    recording: Any = left if isinstance(left, _Recording) else right
    if not isinstance(recording, _Recording):
        return _TRUTHS[sign](left, right)
    log = recording.log
    first, second = term_of(left), term_of(right)
    question = sign, first, second, optional, enforced
    before = log.asked.get(question)
    if before is not None:
        return before
    log.asked[question] = outcome = _TRUTHS[sign](plain(left), plain(right))
    role: Role = "optional" if outcome is optional else "enforced" if outcome is enforced else "required"
    if recording is right:
        first, second, sign = second, first, _MIRRORED.get(sign, sign)
    if isinstance(left, float) or isinstance(right, float):
        log.add(Comparison(sign, first, second, outcome), recording.span, role)
    elif not _difference(left, right).keys() <= {()}:  # else it holds for all defines
        log.add(Comparison(sign if outcome else NEGATED[sign], first, second), recording.span, role)
    return outcome


def prefer(left: int | float, sign: str, right: int | float) -> bool:
    """The same where both outcomes are right for all values, and one is faster or shorter."""
    outcome: bool = _TRUTHS[sign](plain(left), plain(right))
    return compare(left, sign, right, optional=outcome)


def is_power_of_2(size: int) -> bool:
    """Whether the size of a block needs no padding. Yes is right for all, as Triton refuses others; so is no, as
    the padding of a power of two is empty."""
    if not isinstance(size, RecordedInt):
        return size > 0 and not size & (size - 1)
    log, question = size.log, ("is_power_of_2", size.term)
    if question not in log.asked:
        value: int = plain(size)
        log.asked[question] = value > 0 and not value & (value - 1)
        if log.asked[question]:
            log.add(Comparison("is_power_of_2", size.term), size.span, "enforced")
        else:
            log.add(Comparison("is_not_power_of_2", size.term), size.span, "optional")
    return log.asked[question]


def is_finite(value: int | float) -> bool:
    """Whether a number is neither infinite nor NaN."""
    return not isinstance(value, float) or abs(value) < math.inf


# ---------------------------------------------------------------- arithmetic

Products = dict[tuple[Term, ...], int]
"""A sum of products: the factor of each, which is not 0; () is the constant."""
MAX_PRODUCTS: Final = 64  # of one sum; one of more is a term by itself
MAX_SHIFT: Final = 4_096  # bits


def polynomial(term: Term) -> Products:
    """A term of integers as a sum of products of what is neither a sum nor a product."""
    match term:
        case int():
            return {(): term} if term else {}
        case ("neg", operand):
            return _sum({}, polynomial(operand), -1)
        case ("+" | "-" as sign, left, right):
            return _sum(polynomial(left), polynomial(right), 1 if sign == "+" else -1)
        case ("*", left, right):
            return _product(polynomial(left), polynomial(right))
        case _:
            return {(term,): 1}


def _difference(left: int, right: int) -> Products:
    """``left - right``, without its constant where one is a constant."""
    if right.__class__ is int:
        return products_of(left)
    return products_of(right) if left.__class__ is int else _sum(products_of(left), products_of(right), -1)


def _sum(first: Products, second: Products, factor: int = 1) -> Products:
    total = dict(first)
    for product, count in second.items():
        total[product] = total.get(product, 0) + factor * count
    return {product: count for product, count in total.items() if count}


def _product(first: Products, second: Products) -> Products:
    total: Products = {}
    for product, count in first.items():
        total = _sum(total, {_joined(product, other): number for other, number in second.items()}, count)
    return total


def _joined(first: tuple[Term, ...], second: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(sorted((*first, *second), key=repr)) if first and second else first or second


def _written(products: Products) -> Term:
    """A sum of products as a term; equal sums are equal terms."""
    term: Term = 0
    for product in sorted(products, key=lambda product: (-len(product), repr(product))):
        count = products[product]
        factors: list[Term] = [*product] if abs(count) == 1 and product else [*product, abs(count)]
        addend = reduce(lambda left, right: ("*", left, right), factors)
        if term == 0:
            term = addend if count > 0 else -addend if isinstance(addend, int) else ("neg", addend)
        else:
            term = ("+" if count > 0 else "-", term, addend)
    return term


def products_of(value: Any) -> Products:
    """An integer as a sum of products."""
    if isinstance(value, RecordedInt):
        return value.products
    return {(): value} if value else {}


def of_one(name: str, operand: Any, value: Any) -> Any:
    """The value of a function (``FUNCTIONS`` of conditions.py) of one number."""
    return _number_from((name, operand.term), value, operand) if isinstance(operand, _Recording) else value


def _number_from(term: Term, value: Any, source: _Recording) -> Any:
    """A number that was computed from others, ``source`` among them."""
    kind = RecordedFloat if isinstance(value, float) else RecordedInt
    return kind(value, term, source.log, source.span)


def _computed(sign: str, left: Any, right: Any) -> Any:
    if not isinstance(left, _NUMBERS) or not isinstance(right, _NUMBERS):
        return NotImplemented
    source: _Recording = left if isinstance(left, _Recording) else right  # type: ignore[assignment]
    computed, term = source.log.computed, (sign, term_of(left), term_of(right))
    number = computed.get(term)
    if number is None:
        if sign in ("/", "//", "%") and right == 0:
            raise ZeroDivisionError
        if sign in ("<<", ">>") and not (0 <= right <= MAX_SHIFT):
            raise ValueError(f"a shift by {plain(right)}")
        value = OPERATORS[sign](plain(left), plain(right))
        written = term if isinstance(value, float) else _simplest(term, products_of(left), products_of(right))
        computed[term] = number = _number_from(written, value, source)
    return number


def _simplest(term: tuple[Any, ...], first: Products, second: Products) -> Term:
    """What an operator makes of two sums of products, as a term."""
    sign, few = term[0], len(first) + len(second) <= MAX_PRODUCTS
    if sign == "<<" and second.keys() <= {()}:
        sign, second = "*", {(): 1 << second.get((), 0)}
    if sign in ("+", "-") and few:
        return _written(_sum(first, second, 1 if sign == "+" else -1))
    if sign == "*" and len(first) * len(second) <= MAX_PRODUCTS:
        return _written(_product(first, second))
    if sign == "//" and second == {(): 1}:
        return _written(first)
    if sign in ("//", "%") and (not first or first == second):
        return 1 if first and sign == "//" else 0
    return term


OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_TRUTHS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
