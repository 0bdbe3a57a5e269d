"""Sums that a loop rescales while their exponents grow: the running softmax.

A loop carries m, with any update m', and sums x that it updates by

    x' = x * a + g,    a = exp(c * m - c * m'),    g = (a value without m') * exp(-c * m')

Then the factors telescope. With M, the last m, and m_0 and x_0, the first ones,

    x_last = x_0 * exp(c * m_0 - c * M) + the sum of all g, with M in the place of m'

so the sums are also left by a loop that only adds, in which M is a constant. Its backward needs no x and no m of an
iteration. The equality is one of real numbers, for every update of m; conversions between floating types count as
none. Where M is infinite, the forward is NaN.

Input: a graph. Output: the graph in which each such loop is followed by the one that only adds. The first computes
the forward's values (``Loop.computed``), and no derivative flows through it; the second defines what is read after
it, and derivatives flow through this one alone. That needs that none flows through M: that no output changes if d
is added to M, while the second loop has M + d for M (cancelled.py).

So M may be any number. Where one of the sums, s, is of positive numbers and the kernel divides by it, M + log(s)/c
is taken: s is 1 then, and each other sum the mean that most kernels divide it by to (Loop.ones). The probabilities
exp(c * f - c * M) are at most 1 then, and cotangents of means are those that were loaded, which a product takes as
they are. Where s is 0, M + log(s) / c is infinite, and what the forward stored is not finite. M and log(s) are two
numbers, exp(c * f - c * M - log(s)): next to a large M, as of a row that is masked with -1e9, their sum would lose
log(s). What reads M behind the loop has their sum. So has the loop where the forward stored this sum and a backward
can read it (stored.py), unless a large number is among the scores: then the stored one is not precise enough.

Where m' may be -infinity, because all of a row is masked, the exponentials may have a finite number for it
(guarded.py).

What ``rescaled`` checks, each with ``Shift``, which knows how values change with d:

* m is read only in a and in m', and x only in x * a and in m';
* a is exp or exp2 of an expression that is 0 where m is m';
* with M + d for M, each addend of x, and a, become the same multiple of themselves: they have the same c;
* the second loop only adds (loops.py), and neither loop writes memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import Flow, converts_floats, is_floating
from pytriton.gradient.derive.cancelled import FIXED, Drift, Shift
from pytriton.gradient.derive.graph import (
    Carried,
    Define,
    Item,
    Loop,
    Values,
    Write,
    copied,
    dependent,
    every,
    expressions_of,
    inlined,
    read_in,
    rewritten,
    values_in,
)
from pytriton.gradient.derive.loops import only_adds
from pytriton.gradient.derive.online.guarded import Guards
from pytriton.gradient.derive.stored import saved
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Expand,
    Expr,
    Literal,
    Name,
    Permute,
    Reduce,
    Reshape,
    Select,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import DOUBLE, FLOAT, element_of, shape_of
from pytriton.lang.tree.walk import children, names, rebuild, same, walk, with_children


@record
class Rescaled:
    """Proof that ``adding``, which only adds, leaves the sums that ``computing`` leaves, a loop and definitions;
    and that no output depends on the exponent that these leave.
    """

    computing: tuple[Item, ...]
    adding: Loop


def without_rescaling(items: Sequence[Item], flow: Flow, outputs: Collection[Symbol]) -> list[Item]:
    """The graph with the loops that only add."""
    result: list[Item] = []
    for at, item in enumerate(items):
        proof = rescaled(item, items[:at], items[at + 1 :], flow, outputs) if isinstance(item, Loop) else None
        result += [item] if proof is None else [*proof.computing, proof.adding]
    return result


def rescaled(
    loop: Loop, before: Sequence[Item], after: Sequence[Item], flow: Flow, outputs: Collection[Symbol]
) -> Rescaled | None:
    """Proof for a loop among the statements of a kernel."""
    if any(isinstance(item, Write) for item in every(loop.body)):
        return None
    starts = values_in(before)
    for carry in loop.carried:
        if is_floating(carry.inside.type):
            rescaling = _Rescaling(loop, carry, starts)
            adding = rescaling.adding()
            if adding is not None and rescaling.shift().leaves([adding, *after], flow, outputs):
                proof = rescaling.with_one(adding, after, not any(map(_is_large, every([adding]))))
                if proof is None:
                    return rescaling.as_it_is(adding)
                graph = [*before, *proof.computing, proof.adding, *after]
                is_read = proof.adding.exponent in saved(graph, flow, outputs)
                return proof if is_read else rescaling.with_one(adding, after, False)
    return None


class _Rescaling:
    """A loop whose sums may be rescaled as this carried value, the exponent, changes. ``starts``: variables from
    before the loop.
    """

    def __init__(self, loop: Loop, exponent: Carried, starts: Values) -> None:
        self._forward, self._exponent, self._starts = loop, exponent, starts
        self._values = values_in(loop.body)
        self._update = self._original(exponent.last)
        self._guards = Guards(exponent, self._update, loop.body, starts)
        self._loop = replace(loop, body=self._guards.body)
        self._values = values_in(self._loop.body)
        self._last = Name(loop.statement.span, exponent.after.type, self._guards.last)
        self._sums = [c for c in loop.carried if is_floating(c.inside.type) and c is not exponent]
        self._factors: dict[Carried, Expr] = {}
        self._grown: dict[Symbol, Drift] = {}  # how what is carried grows with d

    def adding(self) -> Loop | None:
        """The loop that only adds; None where a condition is not met."""
        if self._update not in self._values or not self._guards.are_right:
            return None
        body = self._unscaled()
        if (
            body is None
            or not self._factors
            or not all(map(self._is_one, self._factors.values()))
            or not self._is_even(body)
        ):
            return None
        carried = [carry for carry in self._loop.carried if carry is not self._exponent]
        body = _live(body, [carry.last for carry in carried])
        if self._exponent.inside in read_in(body):
            return None
        starts = {carry: self._start(carry) for carry in carried}
        if None in starts.values():
            return None
        scaled = [replace(carry, before=starts[carry]) for carry in carried]
        adding = replace(self._loop, carried=scaled, body=body)
        proof = only_adds(adding, [carry for carry in scaled if is_floating(carry.inside.type)])
        return None if proof is None else adding

    def _original(self, symbol: Symbol) -> Symbol:
        """The variable that this one is a copy of."""
        value = self._values.get(symbol)
        return self._original(value.symbol) if isinstance(value, Name) else symbol

    # ---------------------------------------------------------------- x * a + g -> x + g

    def _unscaled(self) -> list[Item] | None:
        """The body with M for m', and without the factors of the sums, which are noted; None where a value reads
        two sums, or a sum has two factors.
        """
        copies: dict[Symbol, Expr] = {self._update: self._last}
        owner = {carry.inside: carry for carry in self._sums}
        body: list[Item] = []
        for item in self._loop.body:
            if not isinstance(item, Define) or item.value is None:
                body.append(rewritten(item, lambda expr: rebuild(expr, copies)))
                continue
            if item.symbol is self._update:
                continue
            value = rebuild(item.value, copies)
            read = {owner[symbol].inside: owner[symbol] for symbol in names(value) if symbol in owner}
            if len(read) > 1:
                return None
            carry = next(iter(read.values()), None)
            if carry is not None:
                value, factor = _without_factor(value, carry.inside)
                if factor is not None and carry in self._factors:
                    return None
                if factor is not None:
                    self._factors[carry] = factor
                owner[item.symbol] = carry
            if carry is not None and isinstance(value, Name):
                copies[item.symbol] = value
            else:
                body.append(replace(item, value=value))
        return body

    def _is_one(self, factor: Expr) -> bool:
        """Whether a factor is 1 where m is m'."""
        first = Name(factor.span, self._last.type, self._exponent.inside)
        at_rest = inlined(factor, {**self._values, self._update: first, self._last.symbol: first})
        match f.inside(at_rest, Expand, Broadcast, Reshape, Cast):
            case Call(function="exp" | "exp2", arguments=(argument,)):
                return _is_zero(argument)
        return False

    # ---------------------------------------------------------------- both have the same c

    def shift(self) -> Shift:
        """Adds d to M."""
        exponent = self._exponent.after
        shift = Shift((), element_of(exponent.type) == DOUBLE, self._guards.singular(self._factors))
        for symbol in {exponent, self._guards.last}:
            shift.move(symbol)
        return shift

    def _is_even(self, body: Sequence[Item]) -> bool:
        """Whether with M + d for M all that is added to a sum grows as its factor does."""
        shift = self.shift()
        shift.follow(body)
        grown = dict.fromkeys(self._sums, FIXED)
        for carry, factor in self._factors.items():
            scale = shift.of(factor, shape_of(carry.inside.type))
            if scale is None or scale.kind != "*":
                return False
            grown[carry] = scale
        self._grown = {carry.inside: growth for carry, growth in grown.items()}
        shift.grown |= self._grown
        shift.follow(body)
        return all(shift.grown.get(carry.last) == growth for carry, growth in grown.items())

    # ---------------------------------------------------------------- x_0 * exp(c * m_0 - c * M)

    def _start(self, carry: Carried) -> Expr | None:
        """What a value of the second loop begins with; None where its factor is another in each iteration."""
        factor, before = self._factors.get(carry), carry.before
        if factor is None:
            return before
        value = self._starts.get(before.symbol) if isinstance(before, Name) else before
        if value is not None and _is_zero(value):
            return value
        if self._guards or constant(self._exponent.before) in (math.inf, -math.inf):
            return None  # exp(inf - inf) in a loop without iterations
        started = {self._exponent.inside: self._exponent.before, self._update: self._last}
        first = inlined(factor, {**self._values, **started})
        if not names(first).isdisjoint((*self._values, *(other.inside for other in self._loop.carried))):
            return None
        return Binary(before.span, carry.inside.type, "*", before, first)

    # ---------------------------------------------------------------- M, or M + log(s) / c

    def as_it_is(self, adding: Loop) -> Rescaled:
        """The first loop leaves M and the sums."""
        computing, own = copied(self._forward)
        for copy, original in zip(computing.carried, self._forward.carried, strict=True):
            copy.after = self._exponent.after if original is self._exponent else copy.after
        computed = {carry.after: own[carry.after] for carry in adding.carried}
        computing = replace(computing, constant=True)
        return Rescaled((computing, *self._guards.definition()), replace(adding, computed=computed))

    def with_one(self, adding: Loop, after: Sequence[Item], one: bool) -> Rescaled | None:
        """It leaves what makes one of the sums 1; None where no sum is of positive numbers and as large as M, or an
        output may be finite where that sum is 0, or log(s) has few digits: in half and bfloat16. ``one``: the loop
        has M + log(s) / c as one number, if that is read behind it.
        """
        exponent = self._exponent.after
        sums = [carry for carry in adding.carried if self._grown.get(carry.inside, FIXED) != FIXED]
        results = {carry.after for carry in sums} | {exponent}
        divisors = (
            carry
            for carry in sums
            if self._may_be_one(adding, carry) and _Divisor(carry.after, after).is_needed_by_all(results)
        )
        total = next(divisors, None)
        if total is None or self._guards or element_of(exponent.type) not in (FLOAT, DOUBLE):
            return None
        computing, own = copied(self._loop)
        computed = {carry.after: own[carry.after] for carry in adding.carried}
        computed |= {carry.after: replace(carry.after) for carry in sums}
        shift = self.shift()
        shift.move(own[exponent])
        shift.grown |= {own[carry.after]: self._grown[carry.inside] for carry in sums}
        divisor, largest = f.named(own[total.after]), {exponent: f.named(own[exponent])}
        read = {exponent} & read_in(after)
        values: dict[Symbol, Expr] = {}
        rows: dict[str, Symbol] = {}
        for function, inverse in (("exp", "log"), ("exp2", "log2")):
            row = rows[function] = replace(exponent, name=f"{inverse}_{total.after.name}")
            values[row] = f.call(inverse, f.scalar(divisor), divisor)
            rounded = f.add(largest[exponent], values[row])
            if read and shift.of(rounded) == FIXED:
                values[exponent] = rounded
        values[computed[total.after]] = f.number(1)
        for carry in sums:
            if carry is not total:
                below = _along(divisor, self._grown[carry.inside], carry.after)
                values[computed[carry.after]] = f.over(f.named(own[carry.after]), below)
        means = [Define(symbol, value, f.declare(symbol, value)) for symbol, value in values.items()]
        divided = rewritten(adding, lambda expr: rebuild(expr, {} if one and read else largest))
        shift.follow([*means, divided])
        divided = rewritten(divided, partial(_divided, rows, shift))
        shift.follow([divided])
        ends = {symbol for carry in sums for symbol in (computed[carry.after], carry.after)} | read
        if any(shift.grown[symbol] != FIXED for symbol in ends):
            return None
        assert isinstance(divided, Loop)
        adding = replace(divided, computed=computed, ones=(total.after,), exponent=exponent)
        return Rescaled((replace(computing, constant=True), *means), adding)

    def _may_be_one(self, adding: Loop, carry: Carried) -> bool:
        """Whether a sum is as large as M, and of numbers that are not negative."""
        values = {**self._starts, **values_in(adding.body)}
        alike = carry.after.type == self._exponent.after.type and 1 not in shape_of(carry.after.type)
        ends = carry.before, f.named(carry.last)
        return alike and all(_is_positive(end, values, carry.inside) for end in ends)


class _Divisor:
    """A sum that the statements behind a loop divide by, or take the logarithm of: where it is 0, what depends on
    that is not finite.
    """

    def __init__(self, summed: Symbol, after: Sequence[Item]) -> None:
        self._after, self._orders = after, {summed: 1}
        for symbol, value in values_in(after).items():
            self._orders[symbol] = self._order(value)

    def is_needed_by_all(self, results: Iterable[Symbol]) -> bool:
        """Whether no store of what depends on these variables is finite where the sum is 0."""
        return all(
            isinstance(item, Define) or (isinstance(item, Write) and self._order(item.value) < 0)
            for item in dependent(self._after, results)
        )

    def _order(self, expr: Expr) -> int:
        """1 where an expression is 0 if the sum is, -1 where it is infinite or NaN then, 0 if unknown."""
        match expr:
            case Name(symbol=symbol):
                return self._orders.get(symbol, 0)
            case Binary(operator="/", left=left, right=right):
                return -1 if self._order(left) < 0 or self._order(right) > 0 else 0
            case Call(function="log" | "log2" | "rsqrt", arguments=(argument,)):
                return -1 if self._order(argument) > 0 else 0
            case Binary(operator="*") | Cast() | Expand() | Broadcast() | Reshape() | Permute():
                orders = [*map(self._order, children(expr))]
                return max(orders) if min(orders) >= 0 else -1
            case Binary(operator="+" | "-") | Reduce(operator="+") | Unary(operator="-"):
                return min(0, *map(self._order, children(expr)))
        return 0


def _is_large(item: Item) -> bool:
    """Whether a number is in it next to which a float has errors of more than 3e-5."""
    numbers = (constant(node) for expr in expressions_of(item) for node in walk(expr))
    return any(isinstance(number, float) and 1e3 < abs(number) < math.inf for number in numbers)


def _divided(rows: Mapping[str, Symbol], shift: Shift, expr: Expr) -> Expr:
    """An expression with exp(x - log(s)) for exp(x), where that grows with d."""
    expr = with_children(expr, partial(_divided, rows, shift))
    if isinstance(expr, Call) and expr.function in rows:
        (argument,) = expr.arguments
        grown = shift.of(argument)
        if grown is not None and grown.by:
            row = _along(f.named(rows[expr.function]), grown, argument)
            return replace(expr, arguments=(f.binary("-", argument, row),))
    return expr


def _along(row: Expr, grown: Drift, value: Expr | Symbol) -> Expr:
    """A number for each element of d, along the axes of the value that grows with d."""
    new = [axis not in grown.axes for axis in range(len(shape_of(value.type)))]
    return f.expanded(row, new) if grown.axes else row


def _is_positive(expr: Expr, values: Values, summed: Symbol) -> bool:
    """Whether a value is not negative if ``summed`` is not."""
    match expr:
        case Name(symbol=symbol):
            return symbol is summed or (symbol in values and _is_positive(values[symbol], values, summed))
        case Call(function="exp" | "exp2"):
            return True
        case Binary(operator="+" | "*", left=left, right=right) | Select(yes=left, no=right):
            return _is_positive(left, values, summed) and _is_positive(right, values, summed)
        case Reduce(operator="+") | Cast() | Expand() | Broadcast() | Reshape() | Permute():
            return _is_positive(expr.operand, values, summed)
        case Literal(value=value):
            return isinstance(value, int | float) and value >= 0
    return False


def _is_zero(expr: Expr) -> bool:
    """Whether all elements are 0, for all values of the variables."""
    match expr:
        case Binary(operator="-", left=left, right=right):
            return same(left, right)
        case Binary(operator="*", left=left, right=right):
            return _is_zero(left) or _is_zero(right)
        case Binary(operator="/", left=left):
            return _is_zero(left)
        case Unary(operator="-") | Expand() | Broadcast() | Reshape():
            return _is_zero(expr.operand)
        case Cast(operand=operand) if is_floating(expr.type):
            return _is_zero(operand)
    return constant(expr) == 0


def _without_factor(expr: Expr, symbol: Symbol) -> tuple[Expr, Expr | None]:
    """``x + g`` and a, of ``x * a + g``."""
    match expr:
        case Binary(operator="*", left=left, right=right):
            for operand, other in ((left, right), (right, left)):
                if isinstance(operand, Name) and operand.symbol is symbol and operand.type == expr.type:
                    return operand, other
        case Binary(operator="+" | "-", left=left, right=right):
            sides = {"left": left, "right": right} if expr.operator == "+" else {"left": left}
            for side, operand in sides.items():
                summed, factor = _without_factor(operand, symbol)
                if factor is not None:
                    return replace(expr, **{side: summed}), factor
        case Cast(operand=operand) if converts_floats(expr):
            inner, factor = _without_factor(operand, symbol)
            return replace(expr, operand=inner), factor
    return expr, None


def _live(body: Sequence[Item], last: Iterable[Symbol]) -> list[Item]:
    """The statements that these variables need."""
    needed = {*last}
    kept: list[Item] = []
    for item in reversed(body):
        if not isinstance(item, Define) or item.symbol in needed:
            kept.insert(0, item)
            needed |= read_in([item])
    return kept
