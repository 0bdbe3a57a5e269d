"""Conditions: for which other defines a translation is right.

Input: the log of a translation (recording.py), the defines that it was made with, the names in its source.
Output: ``Conditions``, few and in the user's names: which names are given, and of what kind; the words of those
that are not numbers; and comparisons of numbers, ``TM >= 16``, ``is_power_of_2(TM)``, ``Y * 1000 <= 2147483647``.
Invariant: together they are equivalent to the log without its optional outcomes.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from pytriton.errors import Report
from pytriton.frozen import record, replace
from pytriton.lang.preprocess.macros import Macro, given_macros
from pytriton.lang.recording import (
    MAX_SHIFT,
    NEGATED,
    OPERATORS,
    Comparison,
    RecordedFloat,
    RecordedInt,
    Requirement,
    Role,
    Term,
    names_in,
    plain,
    polynomial,
    term_of,
)
from pytriton.lang.tree.convert import round_to
from pytriton.lang.tree.typed import RecordedSize, Size
from pytriton.lang.tree.types import BFLOAT16, DOUBLE, FLOAT, HALF, PointerType, ScalarType
from pytriton.source import Source, Span

# ---------------------------------------------------------------- values

FUNCTIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "neg": lambda x: -x,
    "abs": abs,
    "next_power_of_2": lambda x: 1 << (x - 1).bit_length(),
    "truncated": int,
    **{f"as_{type_.triton}": partial(round_to, type_=type_) for type_ in (HALF, BFLOAT16, FLOAT, DOUBLE)},
}
_PREDICATES: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "is": lambda a, b: isinstance(a, float) and a.hex() == b.hex(),
    "is_power_of_2": lambda a, _: a > 0 and a & (a - 1) == 0,
    "is_not_power_of_2": lambda a, _: not (a > 0 and a & (a - 1) == 0),
}


def evaluated(term: Term, values: Mapping[str, int | float]) -> Any:
    """The value of a term; raises an ArithmeticError or a ValueError where it has none."""
    match term:
        case str():
            return values[term]
        case int():
            return term
        case ("float", digits):
            return float.fromhex(digits)
        case (function, operand):
            return FUNCTIONS[function](evaluated(operand, values))
        case (operator, left, right):
            first, second = evaluated(left, values), evaluated(right, values)
            if operator in ("<<", ">>") and second > MAX_SHIFT:
                raise ValueError(f"a shift by {second}")  # it would take long, and all memory
            return OPERATORS[operator](first, second)
    raise AssertionError(term)


def holds(comparison: Comparison, values: Mapping[str, int | float]) -> bool:
    """Whether a comparison has the recorded outcome for other values; no where a term has no value."""
    try:
        left, right = evaluated(comparison.left, values), evaluated(comparison.right, values)
    except (ArithmeticError, ValueError):
        return False
    return _PREDICATES[comparison.operator](left, right) is comparison.holds


def satisfied(entries: Iterable[Comparison], values: Mapping[str, int | float]) -> bool:
    """Whether all comparisons have the recorded outcomes."""
    return all(holds(comparison, values) for comparison in entries)


# ---------------------------------------------------------------- conditions


@record
class Condition:
    """One condition on numbers. ``span``: the place that needed it."""

    comparison: Comparison
    role: Role
    span: Span | None

    def __str__(self) -> str:
        return printed(self.comparison)

    def holds(self, defines: Mapping[str, object]) -> bool:
        """Whether defines, given as for ``translate``, satisfy it."""
        values = _numbers(given_macros(defines, _NOWHERE, Report()))
        return self.names <= values.keys() and holds(self.comparison, values)

    @property
    def determines(self) -> bool:
        """Whether its defines have only one value here, or no Python expression states it."""
        comparison = self.comparison
        is_value = isinstance(comparison.left, str) and not [*names_in(comparison.right)]
        return self.unstated or (comparison.operator == "==" and is_value)

    @property
    def unstated(self) -> bool:
        """Whether no Python expression states it: the rounding of a float, or its bits."""
        comparison = self.comparison
        return comparison.operator == "is" or not all(map(_is_printable, (comparison.left, comparison.right)))

    @property
    def names(self) -> frozenset[str]:
        """The defines that it is about."""
        return frozenset((*names_in(self.comparison.left), *names_in(self.comparison.right)))


@record
class Conditions:
    """The defines for which a translation is right.

    ``asked``: the names on which it depends; of those, exactly ``kinds`` and ``texts`` are given. ``kinds``: int or
    float of each define that is a number; ``texts``: the Triton-C of each other one, and of a number that ``#`` or
    ``##`` spells. ``entries``: the whole log, optional outcomes included.
    """

    asked: frozenset[str] = frozenset()
    kinds: Mapping[str, type] = MappingProxyType({})
    texts: Mapping[str, str] = MappingProxyType({})
    comparisons: tuple[Condition, ...] = ()
    entries: Mapping[Comparison, Requirement] = MappingProxyType({})

    def __iter__(self) -> Iterator[Condition]:
        return iter(self.comparisons)

    def __str__(self) -> str:
        return " and ".join(map(str, self.comparisons)) or "True"

    def holds(self, defines: Mapping[str, object]) -> bool:
        """Whether the translation is right for other defines, given as for ``translate``."""
        report = Report()
        given = given_macros(defines, _NOWHERE, report)
        return not report.errors and self.hold(given)

    def hold(self, given: Mapping[str, Macro]) -> bool:
        """The same, for defines that were read."""
        values = _numbers(given)
        return self.are_given(given) and all(
            holds(condition.comparison, values) for condition in self.comparisons
        )

    def are_given(self, given: Mapping[str, Macro]) -> bool:
        """Whether the same names are given, numbers as numbers of the same kind, and others in the same words."""
        relevant = {name: macro for name, macro in given.items() if name in self.asked}
        return (
            relevant.keys() == self.kinds.keys() | self.texts.keys()
            and all(type(relevant[name].value) is kind for name, kind in self.kinds.items())
            and all(spelling(relevant[name]) == text for name, text in self.texts.items())
        )


_NOWHERE: Final = Source("", "defines")


def _numbers(given: Mapping[str, Macro]) -> dict[str, int | float]:
    return {name: macro.value for name, macro in given.items() if macro.value is not None}


def spelling(macro: Macro) -> str:
    """A define as it was given, in the words of Triton-C."""
    return macro.body[0].span.source.text if macro.body else ""


def conditions_of(
    entries: Mapping[Comparison, Requirement],
    given: Mapping[str, Macro],
    asked: frozenset[str],
    spelled: frozenset[str],
) -> Conditions:
    """The conditions that follow from the log of a translation."""
    relevant = {name: macro for name, macro in given.items() if name in asked}
    kinds = {name: type(value) for name, value in _numbers(relevant).items()}
    texts = {
        name: spelling(macro) for name, macro in relevant.items() if macro.value is None or name in spelled
    }
    floats = frozenset(name for name, kind in kinds.items() if kind is float)
    return Conditions(asked, kinds, texts, simplified(entries, floats), MappingProxyType(dict(entries)))


def instantiated(
    result: Any, values: Mapping[str, int | float], memo: dict[int, tuple[Any, Any]] | None = None
) -> Any:
    """A result of a translation with plain numbers: those that its terms have for these values of the defines.

    Records, tuples and mappings in it are made anew where a number in them is; what is shared stays shared.
    """
    if result is None or result.__class__ in _PLAIN:
        return result
    memo = {} if memo is None else memo
    if id(result) not in memo:
        memo[id(result)] = result, _instantiated(result, values, memo)  # held, so that its id stays its own
    return memo[id(result)][1]


_PLAIN: Final = frozenset((str, int, float, bool, Span, ScalarType, PointerType))


def _instantiated(result: Any, values: Mapping[str, int | float], memo: dict[int, tuple[Any, Any]]) -> Any:
    if hasattr(result, "__dataclass_fields__"):
        changes: dict[str, Any] = {}
        for name in result.__dataclass_fields__:
            before = getattr(result, name)
            after = instantiated(before, values, memo)
            if after is not before:
                changes[name] = after
        return replace(result, **changes) if changes else result
    match result:
        case RecordedSize(term=term, expr=expr):
            return Size(evaluated(term, values), instantiated(expr, values, memo))
        case Size(expr=expr):
            return Size(plain(result), instantiated(expr, values, memo)) if expr is not None else result
        case RecordedInt(term=term) | RecordedFloat(term=term):
            return evaluated(term, values)
        case str() | int() | float():
            return result
        case tuple():
            items = [instantiated(item, values, memo) for item in result]
            if all(new is old for new, old in zip(items, result, strict=True)):
                return result
            return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
        case Mapping():
            pairs = {
                instantiated(key, values, memo): instantiated(item, values, memo)
                for key, item in result.items()
            }
            changed = any(
                a is not c or b is not d for (a, b), (c, d) in zip(pairs.items(), result.items(), strict=True)
            )
            return MappingProxyType(pairs) if changed else result
    return result


# ---------------------------------------------------------------- simplification
# A comparison of integers compares a sum of products with a number. Where the sum is one product, it bounds that:
# ``box`` has the bounds of each product, of single defines as well. Other comparisons are dropped if the bounds of
# their products imply them.

_SIGNS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
_MIRRORED: Final[Mapping[str, str]] = {"<=": ">=", ">=": "<="}
_ASSUMED: Final = Requirement("enforced", None)

Product = tuple[Term, ...]


class _Limits:
    """What is known of one product: bounds and gaps, each with the entry that gave it."""

    def __init__(self) -> None:
        self.low, self.high = -math.inf, math.inf
        self.low_entry = self.high_entry = _ASSUMED
        self.power: Requirement | None = None
        self.excluded: dict[int, Requirement] = {}
        self.floating = False

    def take(self, sign: str, number: float, entry: Requirement) -> None:
        """Take a comparison with a number."""
        if sign in ("==", ">=") and number > self.low:
            self.low, self.low_entry = number, entry
        if sign in ("==", "<=") and number < self.high:
            self.high, self.high_entry = number, entry
        if sign == "!=":
            self.excluded[int(number)] = entry

    def tighten(self) -> None:
        """Move the bounds past gaps, and to powers of two."""
        if self.power is not None and self.low < 1:
            self.low, self.low_entry = 1, self.power
        while self.low in self.excluded or self.high in self.excluded:
            if self.low in self.excluded:
                self.low_entry = _stricter(self.low_entry, self.excluded.pop(int(self.low)))
                self.low += 1
            else:
                self.high_entry = _stricter(self.high_entry, self.excluded.pop(int(self.high)))
                self.high -= 1
            self._to_powers()
        self._to_powers()
        self.excluded = {x: entry for x, entry in self.excluded.items() if self.low <= x <= self.high}

    def _to_powers(self) -> None:
        if self.power is not None:
            self.low = 1 << (int(self.low) - 1).bit_length()
            if self.high < math.inf:
                self.high = 1 << (int(self.high).bit_length() - 1)
            self.excluded = {x: entry for x, entry in self.excluded.items() if x > 0 and not x & (x - 1)}

    def _term(self, number: float) -> Term:
        return term_of(float(number)) if self.floating else int(number)

    def conditions(self, term: Term) -> Iterator[Condition]:
        """The conditions on a product, as few as say the same."""
        if self.low == self.high:
            entry = _stricter(self.low_entry, self.high_entry)
            yield Condition(
                Comparison("is" if self.floating else "==", term, self._term(self.low)),
                "required",
                entry.span,
            )
            return
        if self.power is not None:
            yield Condition(Comparison("is_power_of_2", term), self.power.role, self.power.span)
        if self.low > -math.inf and not (self.power is not None and self.low == 1):
            yield Condition(
                Comparison(">=", term, self._term(self.low)), self.low_entry.role, self.low_entry.span
            )
        if self.high < math.inf:
            yield Condition(
                Comparison("<=", term, self._term(self.high)), self.high_entry.role, self.high_entry.span
            )
        for number, entry in self.excluded.items():
            yield Condition(Comparison("!=", term, number), entry.role, entry.span)


def _stricter(first: Requirement, second: Requirement) -> Requirement:
    return second if second.role == "required" else first


def simplified(entries: Mapping[Comparison, Requirement], floats: frozenset[str]) -> tuple[Condition, ...]:
    """The conditions of a log, without its optional outcomes; ``floats``: the floating defines."""
    box: defaultdict[Product, _Limits] = defaultdict(_Limits)
    others: list[tuple[Comparison, Requirement]] = []
    for comparison, entry in _settled(entries, floats):
        if not _bounds(comparison, entry, box, floats):
            others.append((comparison, entry))
    for bounds in box.values():
        bounds.tighten()
    conditions: list[Condition] = []
    for product, bounds in box.items():
        outside = {other: other_bounds for other, other_bounds in box.items() if other != product}
        implied = _of_product(product, outside)
        for condition in bounds.conditions(_multiplied(product)):
            sign, number = condition.comparison.operator, condition.comparison.right
            if not isinstance(number, int) or not _certain(sign, implied, number):
                conditions.append(condition)
    for comparison, entry in others:
        if not _implied(comparison, box):
            conditions.append(Condition(comparison, entry.role, entry.span))
    return tuple(conditions)


def _settled(
    entries: Mapping[Comparison, Requirement], floats: frozenset[str]
) -> Iterator[tuple[Comparison, Requirement]]:
    """The entries that count; an integer define that has one value is that number in all others."""
    counting = [(comparison, entry) for comparison, entry in entries.items() if entry.role != "optional"]
    values = {
        comparison.left: comparison.right
        for comparison, _ in counting
        if comparison.operator == "=="
        and isinstance(comparison.left, str)
        and isinstance(comparison.right, int)
        and comparison.left not in floats
    }
    for comparison, entry in counting:
        left, right = comparison.left, comparison.right
        if values and not (isinstance(left, str) and isinstance(right, int)):
            comparison = replace(comparison, left=_computed(left, values), right=_computed(right, values))
            if not any(names_in(comparison.left)) and not any(names_in(comparison.right)):
                continue
        yield comparison, entry


def _computed(term: Term, values: Mapping[str, Term]) -> Term:
    """A term with these values for some of its defines."""
    if isinstance(term, str):
        return values.get(term, term)
    if not isinstance(term, tuple) or term[0] == "float":
        return term
    operands = [_computed(operand, values) for operand in term[1:]]
    if term[0] in ("/", "//") and operands[1] == 1:
        return operands[0]
    changed = (term[0], *operands)
    return changed if any(names_in(changed)) else term_of(evaluated(changed, {}))


def _bounds(
    comparison: Comparison, entry: Requirement, box: defaultdict[Product, _Limits], floats: frozenset[str]
) -> bool:
    """Take a comparison as a bound of one product, if it is one."""
    sign, left, right = comparison.operator, comparison.left, comparison.right
    if isinstance(left, str) and _is_floating(right):
        return left in floats and _bounds_of_float(comparison, left, entry, box)
    if sign == "is_power_of_2" and isinstance(left, str):
        bounds = box[left,]
        bounds.power = entry if bounds.power is None else _stricter(bounds.power, entry)
        return True
    if sign not in _SIGNS or not comparison.holds or _is_floating(left) or _is_floating(right):
        return False
    if floats & {*names_in(left), *names_in(right)}:
        return False  # what follows is arithmetic of integers
    products = polynomial(("-", left, right))
    number = -products.pop((), 0)
    if len(products) != 1:
        return False
    [(product, factor)] = products.items()
    if sign in ("<", ">"):
        sign, number = f"{sign}=", number - 1 if sign == "<" else number + 1
    if factor < 0:
        factor, number, sign = -factor, -number, _MIRRORED.get(sign, sign)
    whole, remainder = divmod(number, factor)
    if sign in ("==", "!=") and remainder:
        return sign == "!="
    box[product].take(sign, whole + (sign == ">=" and remainder > 0), entry)
    return True


def _bounds_of_float(
    comparison: Comparison, name: str, entry: Requirement, box: defaultdict[Product, _Limits]
) -> bool:
    """Take a comparison of a floating define with a number; one that holds shows that it is not NaN."""
    sign, right = comparison.operator, comparison.right
    if not comparison.holds or sign not in ("<", "<=", ">", ">="):
        return False
    if not isinstance(right, tuple) or right[0] != "float":
        return False
    number = float.fromhex(right[1])
    if sign in ("<", ">"):
        sign, number = f"{sign}=", math.nextafter(number, math.inf if sign == ">" else -math.inf)
    bounds = box[name,]
    bounds.floating = True
    bounds.take(sign, number, entry)
    return True


def _is_floating(term: Term) -> bool:
    """Whether a term may be a floating number; defines that are one are compared with such."""
    match term:
        case str() | int():
            return False
        case ("float", _) | ("/", _, _):
            return True
        case (function, _) if function.startswith("as_") or function in ("abs",):
            return True
    return any(map(_is_floating, term[1:]))


def _multiplied(product: Product) -> Term:
    term = product[0]
    for factor in product[1:]:
        term = ("*", term, factor)
    return term


# ---------------------------------------------------------------- what the bounds imply

Interval = tuple[float, float]


def _implied(comparison: Comparison, box: Mapping[Product, _Limits]) -> bool:
    """Whether a comparison of integers holds everywhere inside the bounds."""
    sign, left, right = comparison.operator, comparison.left, comparison.right
    if sign == "is_power_of_2":
        return _is_power(left, box)
    if sign not in _SIGNS:
        return False
    if _is_floating(left) or _is_floating(right):
        return _implied_of_floats(comparison, box)
    return comparison.holds and _certain(sign, _interval(("-", left, right), box), 0)


def _implied_of_floats(comparison: Comparison, box: Mapping[Product, _Limits]) -> bool:
    """The same for floating numbers, which are not NaN where they have a bound."""
    left, right = _of_float(comparison.left, box), _of_float(comparison.right, box)
    if left is None or right is None or right[0] != right[1]:
        return False
    sign = comparison.operator if comparison.holds else NEGATED[comparison.operator]
    return _certain(sign, left, right[0])


def _of_float(term: Term, box: Mapping[Product, _Limits]) -> Interval | None:
    """The interval of a floating term; None where it may be NaN."""
    match term:
        case int():
            return term, term
        case ("float", digits):
            return float.fromhex(digits), float.fromhex(digits)
        case str():
            bounds = box.get((term,))
            return None if bounds is None else (bounds.low, bounds.high)
        case ("neg", operand):
            inner = _of_float(operand, box)
            return None if inner is None else (-inner[1], -inner[0])
        case (function, operand) if function.startswith("as_"):
            inner = _of_float(operand, box)
            return None if inner is None else (FUNCTIONS[function](inner[0]), FUNCTIONS[function](inner[1]))
    return None


def _certain(sign: str, interval: Interval, number: float) -> bool:
    low, high = interval
    match sign:
        case "<":
            return high < number
        case "<=":
            return high <= number
        case ">":
            return low > number
        case ">=":
            return low >= number
        case "!=":
            return high < number or low > number
        case "==":
            return low == high == number
    return False


def _interval(term: Term, box: Mapping[Product, _Limits]) -> Interval:
    """The least and the greatest value of a term of integers inside the bounds."""
    low = high = 0.0
    for product, factor in polynomial(term).items():
        first, second = _of_product(product, box) if product else (1, 1)
        ends = sorted((factor * first, factor * second))
        low, high = low + ends[0], high + ends[1]
    return low, high


def _of_product(product: Product, box: Mapping[Product, _Limits]) -> Interval:
    low, high = _of_factors(product, box)
    for larger, bounds in box.items():
        if larger == product:
            low, high = max(low, bounds.low), min(high, bounds.high)
        elif low >= 0 and _divides(product, larger, box):
            high = min(high, bounds.high)
    return low, high


def _divides(product: Product, larger: Product, box: Mapping[Product, _Limits]) -> bool:
    """Whether a product is one of the factors of a larger one, the others of which are at least 1."""
    others = list(larger)
    for factor in product:
        if factor not in others:
            return False
        others.remove(factor)
    return bool(others) and all((factor,) in box and box[factor,].low >= 1 for factor in others)


def _of_factors(product: Product, box: Mapping[Product, _Limits]) -> Interval:
    low = high = 1.0
    for factor in product:
        bounds = box.get((factor,))
        first, second = _of_atom(factor, box)
        if bounds is not None:
            first, second = max(first, bounds.low), min(second, bounds.high)
        corners = [a * b if a and b else 0.0 for a in (low, high) for b in (first, second)]
        low, high = min(corners), max(corners)
    return low, high


def _of_atom(term: Term, box: Mapping[Product, _Limits]) -> Interval:
    """The interval of what is neither a sum nor a product."""
    match term:
        case str():
            pass
        case ("//", left, right):
            first, second = _interval(left, box), _interval(right, box)
            if second[0] >= 1:
                return min(first[0], 0.0), max(first[1], 0.0)
        case ("%", left, right):
            first, second = _interval(left, box), _interval(right, box)
            if second[0] >= 1:
                return first if first[0] >= 0 and first[1] < second[0] else (0.0, second[1] - 1)
        case ("<<" | ">>", left, _) if _interval(left, box)[0] >= 0:
            return 0.0, math.inf if term[0] == "<<" else _interval(left, box)[1]
        case ("next_power_of_2", operand):
            inner = _interval(operand, box)
            return (inner[0], 2 * inner[1]) if inner[0] >= 1 else (0.0, math.inf)
        case ("&", left, ("neg", right)) if left == right and _interval(left, box)[0] >= 1:
            return 1.0, _interval(left, box)[1]  # its lowest bit
        case ("&", left, right):
            ends = [_interval(left, box), _interval(right, box)]
            if ends[0][0] >= 0 or ends[1][0] >= 0:
                return 0.0, min(end[1] for end in ends if end[0] >= 0)
    return -math.inf, math.inf


def _is_power(term: Term, box: Mapping[Product, _Limits]) -> bool:
    """Whether a term is a power of two inside the bounds."""
    match term:
        case int():
            return term > 0 and term & (term - 1) == 0
        case str():
            return (term,) in box and box[term,].power is not None
        case ("*", left, right):
            return _is_power(left, box) and _is_power(right, box)
        case ("//", left, right):
            divides = _interval(left, box)[0] >= _interval(right, box)[1]
            return divides and _is_power(left, box) and _is_power(right, box)
    return False


# ---------------------------------------------------------------- Python

_LEVELS: Final[Mapping[str, int]] = {
    "|": 1, "^": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "/": 6, "//": 6, "%": 6, "neg": 7
}  # fmt: skip


def _is_printable(term: Term) -> bool:
    """Whether Python has the term, on the constants of Triton: integer arithmetic, and floating numbers as such."""
    match term:
        case str() | int():
            return True
        case ("float", digits):
            return math.isfinite(float.fromhex(digits))
    return term[0] in _LEVELS and term[0] != "/" and all(map(_is_printable, term[1:]))


def printed(comparison: Comparison, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """A comparison as Python over define names; ``names``: identifiers that differ from these."""
    left = _python(comparison.left, 0, names)
    if comparison.operator == "is_power_of_2":
        return f"is_power_of_2({left})"
    if comparison.operator == "is_not_power_of_2":
        return f"not is_power_of_2({left})"
    sign = "==" if comparison.operator == "is" else comparison.operator
    text = f"{left} {sign} {_python(comparison.right, 0, names)}"
    return text if comparison.holds else f"not {text}"


def _python(term: Term, level: int, names: Mapping[str, str]) -> str:
    match term:
        case str():
            return names.get(term, term)
        case int():
            return str(term) if term >= 0 or level < 7 else f"({term})"
        case ("float", digits):
            value = float.fromhex(digits)
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        case ("neg", operand):
            return f"-{_python(operand, 7, names)}"
        case (function, operand):
            return f"{function}({_python(operand, 0, names)})"
        case (sign, left, right):
            own = _LEVELS[sign]
            text = f"{_python(left, own, names)} {sign} {_python(right, own + 1, names)}"
            return f"({text})" if own < level else text
    raise AssertionError(term)
