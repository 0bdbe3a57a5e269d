"""Do two turns of a loop reach a common element? ``Y + m + r`` with ``r = 0 ... T`` does not where m steps by T.

A pointer is taken apart into a sum: terms that are the same in every turn and for every element, an interval for
its ranges, and how far it moves a turn (``slope``): by the variable of a ``range`` loop, or by variables that each
turn advances once by a number. Pointers of two turns with the same terms and slope reach stretches of memory that
lie at least so far apart; they are apart if that is more than the stretches are long. Masks do not matter.

C's integers wrap, and so may what is computed in 32 bits. All of it stays exact modulo 2**32, so nothing can meet
while the whole walk is shorter than that; and where only pointers move, nothing wraps at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Broadcast,
    Call,
    Cast,
    Declare,
    Expand,
    Expr,
    For,
    KernelDef,
    Name,
    Range,
    RangeLoop,
    Statement,
    Symbol,
    Unary,
    While,
)
from pytriton.lang.tree.types import INT, LONG, BlockType, PointerType, ScalarType, element_of
from pytriton.lang.tree.walk import assigned, assigned_once, has_memory, inside, names, statements
from pytriton.passes.memory.keys import Keys

__all__ = ["Loop", "Steps"]

Loop = RangeLoop | For | While

_WRAP = 2**32
_MOST_PARTS = 32  # of a sum that is looked through for rows
_FAR = 2**29  # elements; a pointer that moves by less never comes round its 64 bits


@dataclass(frozen=True, slots=True)
class _Sum:
    """``terms`` (keys, each so many times) + low ... high + slope * turn, ``exact`` if nothing can have wrapped."""

    terms: Mapping[Any, int]
    low: int = 0
    high: int = 0
    slope: int = 0
    exact: bool = True

    def plus(self, other: _Sum) -> _Sum:
        terms = {key: self.terms.get(key, 0) + other.terms.get(key, 0) for key in (*self.terms, *other.terms)}
        return _Sum(
            {key: count for key, count in terms.items() if count},
            self.low + other.low,
            self.high + other.high,
            self.slope + other.slope,
            self.exact and other.exact,
        )

    def times(self, factor: int) -> _Sum:
        low, high = sorted((self.low * factor, self.high * factor))
        terms = {key: count * factor for key, count in self.terms.items() if factor}
        return _Sum(terms, low, high, self.slope * factor, self.exact)

    def within(self, type_: Any) -> _Sum:
        """The sum as computed in a type."""
        element = element_of(type_)
        if isinstance(element, PointerType) or element.bits > 32 or not self.exact:
            return self
        small = self.low >= -(2**31) and self.high < 2**31 and element.signed
        return replace(self, exact=small and not self.terms and not self.slope)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an expression stands: in the statement of the loop's body with that number."""

    loop: _LoopFacts
    number: int


class _LoopFacts:
    """What the sums of one loop's body need to know of it."""

    def __init__(self, loop: Loop, initial: Mapping[Symbol, Expr]) -> None:
        self.loop = loop
        body = loop.body + loop.step if isinstance(loop, For) else loop.body
        self.changed = assigned(body)
        self.sums: dict[Symbol, _Sum | None] = {}  # of variables set once in a turn, behind that
        self.pointers: dict[int, tuple[Expr, _Sum | None]] = {}  # each is kept, so that its id is
        self.number: dict[int, int] = {}  # of the top statement, by the id of a statement inside it
        count: dict[Symbol, int] = {}
        top: dict[Symbol, int] = {}
        for number, statement in enumerate(body):
            for inner in statements((statement,)):
                self.number[id(inner)] = number
                if isinstance(inner, Declare | Assign | RangeLoop):
                    count[inner.symbol] = count.get(inner.symbol, 0) + 1
                    if inner is statement:
                        top[inner.symbol] = number
        once = {symbol: number for symbol, number in top.items() if count[symbol] == 1}
        self.values: dict[Symbol, tuple[int, Expr]] = {}  # set once in a turn: where, to what
        self.moves: dict[Symbol, tuple[int, int]] = {}  # advanced once in a turn: where, by how much
        self.initial: dict[Symbol, Expr] = {}  # their values where the loop begins
        for symbol, number in once.items():
            statement = body[number]
            assert isinstance(statement, Declare | Assign | RangeLoop)
            if isinstance(statement, RangeLoop) or statement.value is None:
                continue
            if symbol not in names(statement.value):
                self.values[symbol] = number, statement.value
            elif (step := _advance(symbol, statement.value)) is not None:
                self.moves[symbol] = number, step
                if symbol in initial:
                    self.initial[symbol] = initial[symbol]

    def most(self) -> int | None:
        """The most turns that may follow the first one; None if nothing is known."""
        loop = self.loop
        if not isinstance(loop, RangeLoop):
            return None
        step = constant(loop.step)
        if not isinstance(step, int) or not step:
            return None
        half = 2**31 if loop.symbol.type == INT else 2**63
        first, last = (loop.start, loop.stop) if step > 0 else (loop.stop, loop.start)
        low, high = constant(first), constant(last)
        extent = (high if isinstance(high, int) else half - 1) - (low if isinstance(low, int) else -half)
        return max(0, extent - 1) // abs(step)


def _advance(symbol: Symbol, value: Expr) -> int | None:
    """The number that ``symbol + number`` adds."""
    if not isinstance(value, Binary) or value.operator not in ("+", "-"):
        return None
    left, right = value.left, value.right
    if value.operator == "+" and isinstance(right, Name) and right.symbol is symbol:
        left, right = right, left
    while isinstance(right, Broadcast | Expand):
        right = right.operand
    step = constant(right)
    if not (isinstance(left, Name) and left.symbol is symbol) or not isinstance(step, int):
        return None
    return step if value.operator == "+" else -step


class Steps:
    """Compares pointers of the loops of one kernel."""

    def __init__(self, kernel: KernelDef, keys: Keys) -> None:
        self._kernel = kernel
        self._keys = keys
        self._initial: dict[int, tuple[Loop, dict[Symbol, Expr]]] = {}  # each is kept, so that its id is
        self._facts: dict[int, _LoopFacts] = {}
        self._blocks: dict[Symbol, _Sum | None] = {}

    @cached_property
    def _once(self) -> dict[Symbol, Expr]:
        return {
            statement.symbol: statement.value
            for statement in assigned_once(self._kernel.body)
            if isinstance(statement, Declare) and statement.value is not None
        }

    @cached_property
    def _fixed(self) -> set[Symbol]:
        return set(self._once) | (set(self._kernel.parameters) - assigned(self._kernel.body))

    def enter(self, loop: Loop, initial: Mapping[Symbol, Expr]) -> None:
        """Learn of a loop; ``initial`` has values of variables where the loop begins."""
        if id(loop) not in self._initial:
            moving = inside(loop).sets & initial.keys()
            self._initial[id(loop)] = loop, {symbol: initial[symbol] for symbol in moving}

    def _facts_of(self, loop: Loop) -> _LoopFacts:
        found = self._facts.get(id(loop))
        if found is None:
            found = self._facts[id(loop)] = _LoopFacts(*self._initial[id(loop)])
        return found

    def apart(self, loop: Loop, one: tuple[Expr, Statement], other: tuple[Expr, Statement]) -> bool:
        """Whether the pointers, of statements in the loop, reach no common element in different turns."""
        facts = self._facts_of(loop)
        if element_of(one[0].type) != element_of(other[0].type):  # type: ignore[arg-type]
            return False
        first, second = self._known(facts, *one), self._known(facts, *other)
        if first is None or second is None:
            return False
        if first.terms != second.terms or first.slope != second.slope:
            return False
        low, high, slope = first.low - second.high, first.high - second.low, abs(first.slope)
        reach, turns = max(high, -low), facts.most()
        # Either a turn moves by more than they are long, or all turns together by less than they are apart.
        if slope <= reach and (turns is None or (-slope * turns <= high and low <= slope * turns)):
            return False
        if first.exact and second.exact and slope < _FAR:
            return True
        return turns is not None and slope * turns + reach < _WRAP

    def _known(self, facts: _LoopFacts, pointer: Expr, statement: Statement) -> _Sum | None:
        number = facts.number.get(id(statement))
        if number is None:
            return None
        if id(pointer) not in facts.pointers:
            facts.pointers[id(pointer)] = pointer, self._pointer(pointer, _Place(facts, number))
        return facts.pointers[id(pointer)][1]

    def _pointer(self, pointer: Expr, place: _Place) -> _Sum | None:
        """The sum of a pointer, with ``x / L * C * L + x % L`` in it taken for x: both grow with x alone."""
        parts = list(islice(self._parts(pointer, place), _MOST_PARTS))
        for remainder, there in parts if len(parts) < _MOST_PARTS else ():
            stretched = self._stretched(remainder, there, parts)
            if stretched is not None:
                return stretched
        return self._sum(pointer, place)

    # ---------------------------------------------------------------- sums

    def _sum(self, expr: Expr, place: _Place | None) -> _Sum | None:
        """``place``: where in the loop; None: before it, where every variable is set once."""
        value = constant(expr)
        if isinstance(value, int):
            return _Sum({}, value, value)
        match expr:
            case Expand(operand=operand) | Broadcast(operand=operand):
                return self._sum(operand, place)
            case Cast(operand=operand) if _same_unit(expr):
                return self._sum(operand, place)
            case Range(start=start, stop=stop):
                low, high = constant(start), constant(stop)
                assert isinstance(low, int) and isinstance(high, int)
                return _Sum({}, low, high - 1)
            case Name(symbol=symbol):
                return self._name(expr, symbol, place)
            case Unary(operator="-", operand=operand):
                inner = self._sum(operand, place)
                return inner and inner.times(-1).within(expr.type)
            case Binary(operator="+" | "-" as operator, left=left, right=right) if _counts(expr):
                one, other = self._sum(left, place), self._sum(right, place)
                if one is None or other is None:
                    return None
                return one.plus(other.times(-1 if operator == "-" else 1)).within(expr.type)
            case Binary(operator="*", left=left, right=right) if _counts(expr):
                for factor, operand in ((constant(left), right), (constant(right), left)):
                    if isinstance(factor, int):
                        inner = self._sum(operand, place)
                        return inner and inner.times(factor).within(expr.type)
        return self._uniform(expr, place)

    def _uniform(self, expr: Expr, place: _Place | None) -> _Sum | None:
        """A scalar that is the same in every turn, as one term."""
        if isinstance(expr.type, BlockType) or has_memory(expr):
            return None
        used = names(expr)
        if used & place.loop.changed if place else not used <= self._fixed:
            return None
        return _Sum({self._keys.of(expr): 1})

    def _name(self, expr: Name, symbol: Symbol, place: _Place | None) -> _Sum | None:
        if place is None or symbol not in place.loop.changed:
            facts = place.loop if place else None
            if facts and isinstance(facts.loop, RangeLoop) and symbol is facts.loop.symbol:
                step = constant(facts.loop.step)
                return _Sum({("start", symbol): 1}, slope=step) if isinstance(step, int) else None
            return self._block(symbol) if isinstance(expr.type, BlockType) else self._uniform(expr, place)
        facts = place.loop
        if symbol in facts.values:
            number, value = facts.values[symbol]
            if symbol not in facts.sums:
                facts.sums[symbol] = self._sum(value, _Place(facts, number))
            return facts.sums[symbol] if number < place.number else None
        if symbol not in facts.moves:
            return None
        number, step = facts.moves[symbol]
        begun = _Sum({})
        if isinstance(symbol.type, BlockType):
            first = facts.initial.get(symbol)
            found = None if first is None else self._sum(first, None)
            if found is None:
                return None
            begun = found
        exact = begun.exact and isinstance(element_of(symbol.type), PointerType)
        moved = step if number < place.number else 0
        return _Sum({("start", symbol): 1}, begun.low + moved, begun.high + moved, step, exact)

    def _block(self, symbol: Symbol) -> _Sum | None:
        """A block that the loop leaves alone, if it is set once."""
        if symbol not in self._blocks:
            value = self._once.get(symbol)
            self._blocks[symbol] = None if value is None else self._sum(value, None)
        return self._blocks[symbol]

    # ---------------------------------------------------------------- rows that are stretched

    def _parts(self, expr: Expr, place: _Place) -> Iterator[tuple[Expr, _Place]]:
        """What a sum adds up, each with its place."""
        match expr:
            case Binary(operator="+", left=left, right=right) if _wide(expr):
                yield from self._parts(left, place)
                yield from self._parts(right, place)
            case Expand(operand=operand) | Broadcast(operand=operand):
                yield from self._parts(operand, place)
            case Cast(operand=operand) if _same_unit(expr):
                yield from self._parts(operand, place)
            case Name(symbol=symbol) if place.loop.values.get(symbol, (place.number,))[0] < place.number:
                number, value = place.loop.values[symbol]
                yield from self._parts(value, _Place(place.loop, number))
            case _:
                yield expr, place

    def _stretched(self, remainder: Expr, place: _Place, parts: list[tuple[Expr, _Place]]) -> _Sum | None:
        """The sum of x where ``remainder`` is ``x % L``, and of the other parts where these are uniform.

        ``x / L * C * L + x % L`` is ``x + (C - 1) * (x / L * L)``, which grows with x for every C from 1 on,
        and fits into a long for every int x and C.
        """
        if not isinstance(remainder, Binary) or remainder.operator != "%":
            return None
        if element_of(remainder.type) != INT:  # type: ignore[arg-type]
            return None
        length = self._sum(remainder.right, place)
        inner = self._sum(remainder.left, place)
        if inner is None or length is None or length.slope or length.low != length.high:
            return None
        total, rows = replace(inner, exact=False), 0
        for part, there in parts:
            if part is remainder:
                continue
            if self._is_row(part, there, remainder, inner):
                rows += 1
                total = total.plus(_Sum({("row", self._keys.of(part)): 1}))
                continue
            found = self._sum(part, there)
            if found is None or found.slope or found.low != found.high:
                return None
            total = total.plus(found)
        return total if rows == 1 else None

    def _is_row(self, part: Expr, place: _Place, remainder: Binary, inner: _Sum) -> bool:
        """Whether a part is ``x / L * C * L`` in 64 bits, with a C of at least 1."""
        factors = list(_factors(part))
        lengths = [factor for factor in factors if self._keys.of(factor) == self._keys.of(remainder.right)]
        quotients = [factor for factor in factors if isinstance(factor, Binary) and factor.operator == "/"]
        if len(lengths) != 1 or len(quotients) != 1 or len(factors) > 3:
            return False
        quotient = quotients[0]
        others = [factor for factor in factors if factor is not lengths[0] and factor is not quotient]
        if self._keys.of(quotient.right) != self._keys.of(remainder.right):
            return False
        if element_of(quotient.type) != INT or self._sum(quotient.left, place) != inner:  # type: ignore[arg-type]
            return False
        return self._keys.of(quotient.left) == self._keys.of(remainder.left) and all(
            map(self._positive, others)
        )

    def _positive(self, factor: Expr) -> bool:
        """Whether an int is at least 1."""
        if isinstance(factor, Name) and factor.symbol in self._once:
            factor = self._once[factor.symbol]
        value = constant(factor)
        if isinstance(value, int):
            return 1 <= value < 2**31
        return isinstance(factor, Call) and factor.function == "num_programs"


def _factors(expr: Expr) -> Iterator[Expr]:
    """What a product in 64 bits multiplies, without conversions from int."""
    match expr:
        case Binary(operator="*", left=left, right=right) if element_of(expr.type) == LONG:  # type: ignore[arg-type]
            yield from _factors(left)
            yield from _factors(right)
        case Expand(operand=operand) | Broadcast(operand=operand):
            yield from _factors(operand)
        case Cast(operand=operand) if element_of(operand.type) == INT:  # type: ignore[arg-type]
            yield from _factors(operand)
        case _:
            yield expr


def _wide(expr: Binary) -> bool:
    """Whether a sum is made in 64 bits."""
    element = element_of(expr.type)  # type: ignore[arg-type]
    return isinstance(element, PointerType) or element == LONG


def _counts(expr: Binary) -> bool:
    """Whether an operator gives a pointer, or an integer of at least 32 bits."""
    element = element_of(expr.type)  # type: ignore[arg-type]
    if isinstance(element, PointerType):
        return isinstance(element_of(expr.left.type), PointerType)  # type: ignore[arg-type]
    return isinstance(element, ScalarType) and element.is_integer and element.bits >= 32


def _same_unit(expr: Cast) -> bool:
    """Whether a conversion keeps an integer modulo 2**32, or a pointer's element."""
    old, new = element_of(expr.operand.type), element_of(expr.type)  # type: ignore[arg-type]
    if isinstance(old, PointerType) or isinstance(new, PointerType):
        return old == new
    return all(side.is_integer and side.bits >= 32 for side in (old, new))
