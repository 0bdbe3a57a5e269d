"""Where the pointers of a kernel can be at all, as scalars that are known before it starts.

Input: a kernel after all passes. Output: for a pointer in a statement, the parameter that it comes from and the
lowest and the highest offset that it can have there, in elements, over all iterations and all elements of its
block. The offsets are exact in 64 bits; what the kernel computes in 32 bits is the same if ``requirements`` hold,
which say that nothing wrapped around. None where a pointer depends on memory, or in another way than by sums and
products.
"""

from __future__ import annotations

from pytriton.frozen import dataclass, replace
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Body,
    Broadcast,
    Call,
    Cast,
    Declare,
    Expand,
    Expr,
    KernelDef,
    Literal,
    Name,
    Permute,
    Range,
    RangeLoop,
    Reshape,
    Statement,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import BOOL, LONG, ScalarType, element_of
from pytriton.lang.tree.walk import bodies

__all__ = ["Interval", "Intervals", "Place"]

Bound = int | Expr  # a scalar of type LONG
MAX_BITS = 62  # of a bound, so that it does not leave 64 bits
MAX_OFFSET_BITS = 50  # of an offset that is a long: no memory is that large


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from ``low`` to ``high``; their absolute values are at most 2 to the ``bits``."""

    low: Bound
    high: Bound
    bits: int

    @property
    def is_point(self) -> bool:
        return self.low is self.high or (isinstance(self.low, int) and self.low == self.high)


@dataclass(frozen=True, slots=True)
class Place:
    """A statement: its number in the order of the text, and the loops around it."""

    number: int
    loops: tuple[Statement, ...]


class Intervals:
    """The intervals of one kernel; ``requirements`` grows with what is asked."""

    def __init__(self, kernel: KernelDef) -> None:
        self.requirements: list[Expr] = []
        self.places: dict[int, Place] = {}  # of statements, by their ids; the kernel holds them
        self._ends: dict[int, int] = {}  # of loops: the number of the first statement after
        self._span = kernel.span
        self._parameters = set(kernel.parameters)
        self._set: dict[Symbol, list[Statement]] = {}
        self._open: set[Symbol] = set()
        self._note(kernel.body, ())

    def _note(self, body: Body, loops: tuple[Statement, ...]) -> None:
        for statement in body:
            self.places[id(statement)] = Place(len(self.places), loops)
            if isinstance(statement, Declare | Assign | RangeLoop):
                self._set.setdefault(statement.symbol, []).append(statement)
            is_loop = bool(bodies(statement)) and not hasattr(statement, "otherwise")
            for inner in bodies(statement):
                self._note(inner, (*loops, statement) if is_loop else loops)
            self._ends[id(statement)] = len(self.places)

    # Pointers.

    def pointer(self, expr: Expr, place: Place) -> tuple[Symbol, Interval] | None:
        """The parameter and the offsets of a pointer where a statement is; None if nobody knows."""
        match expr:
            case Name(symbol=symbol) if symbol in self._parameters and symbol not in self._set:
                return symbol, Interval(0, 0, 0)
            case Name(symbol=symbol):
                return self._variable(symbol, place)
            case Expand() | Broadcast() | Reshape() | Permute():
                return self.pointer(expr.operand, place)
            case Binary(operator="+" | "-", left=left, right=right):
                base, offset = self.pointer(left, place), self._widened(right, place)
                if base is None or offset is None:
                    return None
                moved = self._sum(base[1], offset if expr.operator == "+" else self._negated(offset))
                return None if moved is None else (base[0], moved)
        return None

    def _variable(self, symbol: Symbol, place: Place) -> tuple[Symbol, Interval] | None:
        """A pointer that is set once, or once before a loop and moved once in it."""
        if symbol not in self._set or symbol in self._open:
            return None
        first, *more = self._set[symbol]
        if not isinstance(first, Declare | Assign) or first.value is None:
            return None
        start = self.places[id(first)]
        if len(more) > 1 or place.number < start.number:
            return None
        self._open.add(symbol)
        try:
            base = self.pointer(first.value, start)
            if base is None or not more:
                return base
            moved = self._moved(symbol, more[0], start, place)
        finally:
            self._open.discard(symbol)
        total = None if moved is None else self._sum(base[1], moved)
        return None if total is None else (base[0], total)

    def _moved(self, symbol: Symbol, step: Statement, start: Place, place: Place) -> Interval | None:
        """How far ``p = p + d`` in a loop has moved p from where it was set."""
        inside = self.places[id(step)]
        if not isinstance(step, Assign) or not isinstance(step.value, Binary) or not inside.loops:
            return None
        loop, value = inside.loops[-1], step.value
        if inside.loops[:-1] != start.loops or not isinstance(loop, RangeLoop) or step not in loop.body:
            return None
        if (
            value.operator not in ("+", "-")
            or not isinstance(value.left, Name)
            or value.left.symbol is not symbol
        ):
            return None
        distance, times = self._widened(value.right, inside), self._iterations(loop)
        if distance is None or times is None or not distance.is_point:
            return None
        distance = distance if value.operator == "+" else self._negated(distance)
        if place.number < self.places[id(loop)].number:
            return Interval(0, 0, 0)
        before = place.number <= inside.number
        after = place.number >= self._ends[id(loop)]
        low = 0 if before or after else 1
        high = times if before else self._add(times, 1)
        total = self._product(distance, Interval(low, high, 31))
        return None if total is None else self._held(total, MAX_OFFSET_BITS)

    def _iterations(self, loop: RangeLoop) -> Bound | None:
        """How many iterations a loop has before its last; 0 if it has none."""
        place, step = self.places[id(loop)], constant(loop.step)
        start, stop = self._widened(loop.start, place), self._widened(loop.stop, place)
        if start is None or stop is None or not isinstance(step, int) or step < 1:
            return None
        if max(start.bits, stop.bits) > 31:
            return None
        reach = self._extreme("max", self._add(self._add(stop.high, self._times(start.low, -1)), -1), 0)
        return self._divided(reach, step)

    # Integers.

    def _widened(self, expr: Expr, place: Place) -> Interval | None:
        """An integer in 64 bits; it is required that it did not leave 32 before, if it has no more."""
        interval = self._integer(expr, place)
        type_ = element_of(expr.type)  # type: ignore[arg-type]
        if interval is None or not isinstance(type_, ScalarType) or type_.kind != "int":
            return None
        if type_.bits < 32:
            return None
        return self._held(interval, 31 if type_.bits == 32 else MAX_OFFSET_BITS)

    def _held(self, interval: Interval, bits: int) -> Interval:
        """The interval, which is required to have no more bits than that."""
        if interval.bits <= bits:
            return interval
        self._require(interval.low, ">=", -(1 << bits))
        self._require(interval.high, "<=", (1 << bits) - 1)
        return replace(interval, bits=bits)

    def _integer(self, expr: Expr, place: Place) -> Interval | None:
        value = constant(expr)
        if isinstance(value, int):
            return Interval(value, value, value.bit_length())
        match expr:
            case Name(symbol=symbol):
                return self._number(symbol, expr, place)
            case Range(start=start, stop=stop):
                first, last = constant(start), constant(stop)
                assert isinstance(first, int)
                assert isinstance(last, int)
                return Interval(first, last - 1, max(abs(first), abs(last)).bit_length())
            case Expand() | Broadcast() | Reshape() | Permute():
                return self._integer(expr.operand, place)
            case Cast(operand=operand) if element_of(expr.type) == LONG:  # type: ignore[arg-type]
                return self._widened(operand, place)
            case Call(function="program_id"):
                return self._point(expr, 31 if constant(expr.arguments[0]) == 0 else 16)
            case Unary(operator="-", operand=operand):
                inner = self._integer(operand, place)
                return None if inner is None else self._negated(inner)
            case Binary(operator="/", left=left, right=right):
                return self._quotient(self._widened(left, place), constant(right))
            case Binary(operator="+" | "-" | "*", left=left, right=right):
                return self._computed(expr.operator, self._integer(left, place), self._integer(right, place))
        return None

    def _number(self, symbol: Symbol, expr: Expr, place: Place) -> Interval | None:
        if symbol in self._parameters and symbol not in self._set:
            type_ = symbol.type
            signed = isinstance(type_, ScalarType) and type_.kind == "int" and type_.bits in (32, 64)
            return self._point(expr, symbol.type.bits - 1) if signed else None  # type: ignore[union-attr]
        if symbol not in self._set or symbol in self._open:
            return None
        first, *more = self._set[symbol]
        if more:
            return None
        self._open.add(symbol)
        try:
            if isinstance(first, RangeLoop):
                return self._counter(first) if first in place.loops else None
            assert isinstance(first, Declare | Assign)
            return None if first.value is None else self._integer(first.value, self.places[id(first)])
        finally:
            self._open.discard(symbol)

    def _counter(self, loop: RangeLoop) -> Interval | None:
        place, step = self.places[id(loop)], constant(loop.step)
        start, stop = self._widened(loop.start, place), self._widened(loop.stop, place)
        if start is None or stop is None or not isinstance(step, int) or step < 1:
            return None
        last = self._extreme("max", start.low, self._add(stop.high, -1))
        return Interval(start.low, last, max(start.bits, stop.bits) + 1)

    def _point(self, expr: Expr, bits: int) -> Interval:
        wide = expr if expr.type == LONG else Cast(expr.span, LONG, expr)
        return Interval(wide, wide, bits)

    def _computed(self, operator: str, left: Interval | None, right: Interval | None) -> Interval | None:
        if left is None or right is None:
            return None
        if operator == "*":
            if (
                left.bits + right.bits > MAX_BITS
            ):  # a factor of 32 bits that wrapped around is nothing to go by
                left, right = self._held(left, 31), self._held(right, 31)
            return self._product(left, right) if left.is_point else self._product(right, left)
        return self._sum(left, right if operator == "+" else self._negated(right))

    # Arithmetic of intervals, and of bounds.

    def _sum(self, left: Interval, right: Interval) -> Interval | None:
        bits = max(left.bits, right.bits) + 1
        low = self._add(left.low, right.low)
        high = low if left.is_point and right.is_point else self._add(left.high, right.high)
        return None if bits > MAX_BITS else Interval(low, high, bits)

    def _negated(self, interval: Interval) -> Interval:
        low = self._times(interval.high, -1)
        return Interval(low, low if interval.is_point else self._times(interval.low, -1), interval.bits)

    def _product(self, point: Interval, other: Interval) -> Interval | None:
        bits = point.bits + other.bits
        if not point.is_point or bits > MAX_BITS:
            return None
        low, high = self._times(other.low, point.low), self._times(other.high, point.low)
        if other.is_point:
            return Interval(low, low, bits)
        if isinstance(point.low, int):
            return Interval(low, high, bits) if point.low >= 0 else Interval(high, low, bits)
        return Interval(self._extreme("min", low, high), self._extreme("max", low, high), bits)

    def _quotient(self, interval: Interval | None, divisor: int | float | None) -> Interval | None:
        """By a positive number; both truncate."""
        if interval is None or not isinstance(divisor, int) or divisor < 1:
            return None
        low = self._divided(interval.low, divisor)
        return Interval(
            low, low if interval.is_point else self._divided(interval.high, divisor), interval.bits
        )

    def _divided(self, bound: Bound, divisor: int) -> Bound:
        if isinstance(bound, int):
            return abs(bound) // divisor * (1 if bound > 0 else -1)
        return bound if divisor == 1 else Binary(self._span, LONG, "/", bound, self._literal(divisor))

    def _add(self, left: Bound, right: Bound) -> Bound:
        if isinstance(left, int) and isinstance(right, int):
            return left + right
        if isinstance(left, int):
            left, right = right, left
        if isinstance(right, int) and right == 0:
            return left
        return Binary(self._span, LONG, "+", self.as_expr(left), self.as_expr(right))

    def _times(self, left: Bound, right: Bound) -> Bound:
        if isinstance(left, int) and isinstance(right, int):
            return left * right
        if isinstance(left, int):
            left, right = right, left
        if isinstance(right, int) and right in (0, 1):
            return left if right else 0
        return Binary(self._span, LONG, "*", self.as_expr(left), self.as_expr(right))

    def _extreme(self, function: str, left: Bound, right: Bound) -> Bound:
        if isinstance(left, int) and isinstance(right, int):
            return min(left, right) if function == "min" else max(left, right)
        return Call(self._span, LONG, function, (self.as_expr(left), self.as_expr(right)))

    def _require(self, bound: Bound, operator: str, limit: int) -> None:
        self.requirements.append(
            Binary(self._span, BOOL, operator, self.as_expr(bound), self._literal(limit))
        )

    def as_expr(self, bound: Bound) -> Expr:
        """A bound as an expression of type LONG."""
        return self._literal(bound) if isinstance(bound, int) else bound

    def _literal(self, value: int) -> Expr:
        return Literal(self._span, LONG, value)
