"""Do two accesses of a program reach a common element? ``Y + r`` and ``Y + T + r`` with ``r = 0 ... T`` do not.

A pointer becomes an affine expression (analysis/affine.py) of scalars, its ranges an interval. The distance of the
memory of two pointers with the same symbols is that of their intervals. This decides

- two accesses between which no variable changed: ``disjoint``;
- two accesses in different iterations of a loop: ``disjoint_in_iterations``. One symbol is then the number of the
  iteration, and its coefficient how far an iteration moves the pointer: by the variable of a ``range`` loop, or by
  variables that each iteration advances once by a constant. With m in steps of T, ``Y + m + r`` is disjoint.

Masks are ignored.

C's integers wrap, and so may what is computed in 32 bits. All of it is exact modulo 2**32, so accesses are disjoint
as long as the loop moves by less than that in all; and if only pointers move, nothing wraps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.types import INT, LONG, BlockType, PointerType, element_of
from pytriton.lang.tree.walk import assigned, has_memory, inside, names, statements, walk
from pytriton.passes.analysis.affine import (
    Affine,
    Keys,
    advance,
    affine_of_element,
    keeps_number,
)
from pytriton.passes.analysis.queries import Once, never_set, set_once

Loop = typed.RangeLoop | typed.For | typed.While

_WRAP = 2**32
_ITERATION = "the number of the iteration"  # a symbol
_MAX_ADDENDS = 32  # terms of a pointer that is searched for strided rows
_MAX_STEP = 2**29  # elements; a pointer that moves by less per iteration cannot overflow 64 bits


class _Iteration:
    """The assignments of one iteration of a loop."""

    def __init__(self, loop: Loop, initial: Mapping[typed.Symbol, typed.Expr]) -> None:
        self.loop = loop
        body = loop.body + loop.step if isinstance(loop, typed.For) else loop.body
        self.changed = assigned(body)
        self.sums: dict[typed.Symbol, Affine | None] = {}  # of variables set once, after that
        self.pointers: dict[
            int, tuple[typed.Expr, Affine | None]
        ] = {}  # by id, which stays unique as the key is kept
        self.position: dict[int, int] = {}  # in the body, of each statement in it, by its id
        count: dict[typed.Symbol, int] = {}
        outermost: dict[typed.Symbol, int] = {}
        for position, statement in enumerate(body):
            for inner in statements((statement,)):
                self.position[id(inner)] = position
                if isinstance(inner, typed.Declare | typed.Assign | typed.RangeLoop):
                    count[inner.symbol] = count.get(inner.symbol, 0) + 1
                    if inner is statement:
                        outermost[inner.symbol] = position
        self.values: dict[typed.Symbol, tuple[int, typed.Expr]] = {}  # set once: where, to what
        self.moves: dict[typed.Symbol, tuple[int, int]] = {}  # advanced once: where, by how much
        self.initial: dict[typed.Symbol, typed.Expr] = {}  # the values of these where the loop begins
        for variable, position in outermost.items():
            statement = body[position]
            if (
                count[variable] > 1
                or not isinstance(statement, typed.Declare | typed.Assign)
                or statement.value is None
            ):
                continue
            if variable not in names(statement.value):
                self.values[variable] = position, statement.value
            elif (amount := advance(variable, statement.value)) is not None:
                self.moves[variable] = position, integer(amount)
                if variable in initial:
                    self.initial[variable] = initial[variable]

    @property
    def step(self) -> int | None:
        """The step of a ``range``, if constant."""
        step = constant(self.loop.step) if isinstance(self.loop, typed.RangeLoop) else None
        return step if isinstance(step, int) else None

    def max_iterations(self) -> int | None:
        """The maximum number of iterations after the first; None if unknown."""
        loop = self.loop
        if not isinstance(loop, typed.RangeLoop) or not self.step:
            return None
        half = 2**31 if loop.symbol.type == INT else 2**63
        first, last = (loop.start, loop.stop) if self.step > 0 else (loop.stop, loop.start)
        low, high = constant(first), constant(last)
        extent = (high if isinstance(high, int) else half - 1) - (low if isinstance(low, int) else -half)
        return max(0, extent - 1) // abs(self.step)


@record
class _Place:
    """The position in the loop's body of the statement that contains an expression."""

    iteration: _Iteration
    position: int


class Overlap:
    """Compares the pointers of one kernel."""

    def __init__(self, kernel: typed.KernelDef, keys: Keys) -> None:
        self._kernel = kernel
        self._keys = keys
        self._initial: dict[
            int, tuple[Loop, dict[typed.Symbol, typed.Expr]]
        ] = {}  # by id, which stays unique as the key is kept
        self._iterations: dict[int, _Iteration] = {}
        self._blocks: dict[typed.Symbol, Affine | None] = {}
        self._sums: Once[typed.Expr, Affine | None] = Once()

    @cached_property
    def _once(self) -> dict[typed.Symbol, typed.Expr]:
        return set_once(self._kernel.body)

    @cached_property
    def _fixed(self) -> set[typed.Symbol]:
        return self._once.keys() | never_set(self._kernel)

    # ---------------------------------------------------------------- at one time

    def disjoint(self, first: typed.Expr, second: typed.Expr) -> bool:
        """Whether two pointers reach no common element, with the same values of variables in both."""
        if element_of(first.type) != element_of(second.type):
            return False
        left, right = self._sums(self._now, first), self._sums(self._now, second)
        if left is None or right is None or left.terms != right.terms:
            return False
        if not (left.low > right.high or right.low > left.high):
            return False
        if left.exact and right.exact:
            return True
        return left.high - right.low < _WRAP and right.high - left.low < _WRAP

    def _now(self, pointer: typed.Expr) -> Affine | None:
        """The sum of a pointer, with current values of variables."""
        return None if _subtracts(pointer) else affine_of_element(pointer, self._leaf_now)

    def _leaf_now(self, expr: typed.Expr) -> Affine | None:
        value = self._once.get(expr.symbol) if isinstance(expr, typed.Name) else None
        if isinstance(value, typed.Range):
            return Affine.range(value)
        return None if isinstance(expr.type, BlockType) else Affine.symbol(self._keys.of(expr))

    # ---------------------------------------------------------------- in two iterations

    def enter(self, loop: Loop, initial: Mapping[typed.Symbol, typed.Expr]) -> None:
        """Register a loop; ``initial`` has values of variables where it begins."""
        if id(loop) not in self._initial:
            moving = inside(loop).sets & initial.keys()
            self._initial[id(loop)] = loop, {variable: initial[variable] for variable in moving}

    def disjoint_in_iterations(
        self,
        loop: Loop,
        first: tuple[typed.Expr, typed.Statement],
        second: tuple[typed.Expr, typed.Statement],
    ) -> bool:
        """Whether two pointers, each of a statement in the loop, reach no common element in two iterations."""
        iteration = self._iterations.get(id(loop))
        if iteration is None:
            iteration = self._iterations[id(loop)] = _Iteration(*self._initial[id(loop)])
        if element_of(first[0].type) != element_of(second[0].type):
            return False
        left, right = self._in_iteration(iteration, *first), self._in_iteration(iteration, *second)
        if left is None or right is None or left.terms != right.terms:
            return False
        low, high, step = left.low - right.high, left.high - right.low, abs(left.terms.get(_ITERATION, 0))
        reach, iterations = max(high, -low), iteration.max_iterations()
        # Either one iteration moves by more than their length, or all together by less than their distance.
        farthest = None if iterations is None else step * iterations
        if step <= reach and (farthest is None or (-farthest <= high and low <= farthest)):
            return False
        if left.exact and right.exact and step < _MAX_STEP:
            return True
        return farthest is not None and farthest + reach < _WRAP

    def _in_iteration(
        self, iteration: _Iteration, pointer: typed.Expr, statement: typed.Statement
    ) -> Affine | None:
        position = iteration.position.get(id(statement))
        if position is None:
            return None
        if id(pointer) not in iteration.pointers:
            iteration.pointers[id(pointer)] = pointer, self._pointer(pointer, _Place(iteration, position))
        return iteration.pointers[id(pointer)][1]

    def _pointer(self, pointer: typed.Expr, place: _Place) -> Affine | None:
        """The sum of a pointer; for strided rows, ``x / L * C * L + x % L``, that of x."""
        addends = list(islice(self._addends(pointer, place), _MAX_ADDENDS))
        for remainder, there in addends if len(addends) < _MAX_ADDENDS else ():
            rows = self._strided_rows(remainder, there, addends)
            if rows is not None:
                return rows
        return self._sum(pointer, place)

    def _sum(self, expr: typed.Expr, place: _Place | None) -> Affine | None:
        """``place``: where in the loop; None: before it, where only variables that are set once have values."""
        return affine_of_element(expr, lambda part: self._leaf(part, place))

    def _leaf(self, expr: typed.Expr, place: _Place | None) -> Affine | None:
        if not isinstance(expr, typed.Name):
            return self._uniform(expr, place)
        if place is not None and expr.symbol in place.iteration.changed:
            return self._changed(expr.symbol, place)
        loop = None if place is None else place.iteration.loop
        if place is not None and isinstance(loop, typed.RangeLoop) and expr.symbol is loop.symbol:
            step = place.iteration.step
            return None if step is None else self._moving(expr.symbol, step)
        return self._block(expr.symbol) if isinstance(expr.type, BlockType) else self._uniform(expr, place)

    def _uniform(self, expr: typed.Expr, place: _Place | None) -> Affine | None:
        """A scalar that is the same in every iteration, as a symbol."""
        if isinstance(expr.type, BlockType) or has_memory(expr):
            return None
        used = names(expr)
        if used & place.iteration.changed if place else not used <= self._fixed:
            return None
        return Affine.symbol(self._keys.of(expr))

    def _moving(self, variable: typed.Symbol, step: int) -> Affine:
        """A variable that each iteration advances, at the start of the iteration."""
        return Affine.symbol(("start", variable)).plus(Affine.symbol(_ITERATION), step)

    def _changed(self, variable: typed.Symbol, place: _Place) -> Affine | None:
        """A variable that the body of the loop sets."""
        iteration = place.iteration
        if variable in iteration.values:
            position, value = iteration.values[variable]
            # Here it still has its value from the previous iteration.
            if position >= place.position:
                return None
            if variable not in iteration.sums:
                iteration.sums[variable] = self._sum(value, _Place(iteration, position))
            return iteration.sums[variable]
        if variable not in iteration.moves:
            return None
        position, step = iteration.moves[variable]
        initial = Affine({})
        if isinstance(variable.type, BlockType):
            value = iteration.initial.get(variable)  # type: ignore[assignment]
            sum_ = None if value is None else self._sum(value, None)
            if sum_ is None:
                return None
            initial = sum_
        exact = initial.exact and isinstance(element_of(variable.type), PointerType)
        moved = Affine.constant(step if position < place.position else 0)
        interval = Affine({}, initial.low, initial.high, exact)
        return self._moving(variable, step).plus(interval).plus(moved)

    def _block(self, variable: typed.Symbol) -> Affine | None:
        """A block that the loop does not set, if it is set once."""
        if variable not in self._blocks:
            value = self._once.get(variable)
            self._blocks[variable] = None if value is None else self._sum(value, None)
        return self._blocks[variable]

    # ---------------------------------------------------------------- strided rows

    def _addends(self, expr: typed.Expr, place: _Place) -> Iterator[tuple[typed.Expr, _Place]]:
        """The terms of a sum, each with its place."""
        match expr:
            case typed.Binary(operator="+", left=left, right=right) if _is_64_bits(expr):
                yield from self._addends(left, place)
                yield from self._addends(right, place)
            case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
                yield from self._addends(operand, place)
            case typed.Cast(operand=operand) if keeps_number(expr):
                yield from self._addends(operand, place)
            case typed.Name(symbol=name) if (
                place.iteration.values.get(name, (place.position,))[0] < place.position
            ):
                position, value = place.iteration.values[name]
                yield from self._addends(value, _Place(place.iteration, position))
            case _:
                yield expr, place

    def _strided_rows(
        self, remainder: typed.Expr, place: _Place, addends: list[tuple[typed.Expr, _Place]]
    ) -> Affine | None:
        """The sum of x, where ``remainder`` is ``x % L``, and of the other addends if these are uniform.

        ``x / L * C * L + x % L`` is ``x + (C - 1) * (x / L * L)``, which is monotonic in x for every C of at least
        1 and fits in a long for every int x and C.
        """
        if not isinstance(remainder, typed.Binary) or remainder.operator != "%":
            return None
        if element_of(remainder.type) != INT:
            return None
        length = self._sum(remainder.right, place)
        dividend = self._sum(remainder.left, place)
        if dividend is None or length is None or not _is_fixed(length):
            return None
        total, rows = replace(dividend, exact=False), 0
        for addend, there in addends:
            if addend is remainder:
                continue
            if self._is_row(addend, there, remainder, dividend):
                rows += 1
                total = total.plus(Affine.symbol(("row", self._keys.of(addend))))
                continue
            other = self._sum(addend, there)
            if other is None or not _is_fixed(other):
                return None
            total = total.plus(other)
        return total if rows == 1 else None

    def _is_row(self, addend: typed.Expr, place: _Place, remainder: typed.Binary, dividend: Affine) -> bool:
        """Whether an addend is ``x / L * C * L`` in 64 bits, with a C of at least 1."""
        factors = list(_factors(addend))
        lengths = [factor for factor in factors if self._keys.of(factor) == self._keys.of(remainder.right)]
        quotients = [
            factor for factor in factors if isinstance(factor, typed.Binary) and factor.operator == "/"
        ]
        if len(lengths) != 1 or len(quotients) != 1 or len(factors) > 3:
            return False
        quotient = quotients[0]
        others = [factor for factor in factors if factor is not lengths[0] and factor is not quotient]
        if self._keys.of(quotient.right) != self._keys.of(remainder.right):
            return False
        if element_of(quotient.type) != INT or self._sum(quotient.left, place) != dividend:
            return False
        return self._keys.of(quotient.left) == self._keys.of(remainder.left) and all(
            map(self._is_positive, others)
        )

    def _is_positive(self, factor: typed.Expr) -> bool:
        """Whether an int is at least 1."""
        if isinstance(factor, typed.Name) and factor.symbol in self._once:
            factor = self._once[factor.symbol]
        value = constant(factor)
        if isinstance(value, int):
            return 1 <= value < 2**31
        return isinstance(factor, typed.Call) and factor.function == "num_programs"


def _subtracts(pointer: typed.Expr) -> bool:
    """Whether a pointer subtracts a block; these are not compared."""
    return any(
        isinstance(node, typed.Unary | typed.Binary)
        and node.operator == "-"
        and isinstance(node.type, BlockType)
        for node in walk(pointer)
    )


def _is_fixed(total: Affine) -> bool:
    """Whether a sum is one number, the same in every iteration."""
    return total.low == total.high and _ITERATION not in total.terms


def _factors(expr: typed.Expr) -> Iterator[typed.Expr]:
    """The factors of a product in 64 bits, without conversions from int."""
    match expr:
        case typed.Binary(operator="*", left=left, right=right) if element_of(expr.type) == LONG:
            yield from _factors(left)
            yield from _factors(right)
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
            yield from _factors(operand)
        case typed.Cast(operand=operand) if element_of(operand.type) == INT:
            yield from _factors(operand)
        case _:
            yield expr


def _is_64_bits(expr: typed.Binary) -> bool:
    """Whether a sum is computed in 64 bits."""
    element = element_of(expr.type)
    return isinstance(element, PointerType) or element == LONG
