"""Peeling: a loop whose masks fail in its last iteration only -> full iterations without masks, then the last one.

``for (n = 0; n < N; n += TN)`` with ``n + rn < N`` tests in every iteration what can fail only in the last one, and
the test costs a select per element and a predicate per load. So a loop with a matrix product, where such arithmetic
delays the tensor cores, becomes

    whole = N // TN * TN
    for n in range(0, whole, TN):  # n + TN <= N: every n + rn is below N
        ...
    if whole < N:
        ...  # the remaining iteration, unchanged

which are the same iterations in the same order; a loop that counts down to 0 likewise. If N is known to be a
multiple of TN (a number, a product with TN, a promise that the launcher checks) no iteration remains, and there is
no ``if``.

A condition is removed if it holds in every full iteration: its sides are sums of the loop's variable, its bound,
numbers and ranges, and their difference is a number (affine.py).

A causal mask, ``n + rn <= rm`` with ``rm = pm * TM + 0 ... TM``, fails on the diagonal alone. Where the bound is
``min(N, (pm + 1) * TM)``, and TM is at most TN, that is the last iteration of the loop. There the last iteration is
always peeled, full or not (``_Diagonal``): ``whole = (max(N, 1) - 1) / TN * TN``.

Gain: attention on an H200 with Triton 3.6, 346 TFLOP/s for 322 at head size 64, 342 for 313 at 128; of the diagonal
354 for 276 and 397 for 377 (benchmarks/NOTES.md).
Switch: its row in ``PASSES``.
Try without it: with the first Triton that peels loops under masks by itself; 3.6 does not, newer ones are not
measured yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from pytriton.lang.recording import is_power_of_2
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import BOOL, INT, element_of, shape_of
from pytriton.lang.tree.walk import (
    assigned,
    bodies,
    expressions,
    inside,
    kinds_in,
    map_expressions,
    names,
    reads,
    rebuild,
    with_bodies,
)
from pytriton.passes.analysis.affine import Affine, affine_of, affine_of_element, decides, is_true, simplified
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.liveness import Later, LiveBlock
from pytriton.passes.analysis.queries import (
    counting,
    larger_than,
    multiplies,
    negated,
    never_set,
    set_once,
    unless_changed,
    with_body,
)

_MAX_STATEMENTS = 60  # statements of a loop that is written twice
_MAX_NODES = 100  # nodes of a side of a comparison that is analysed
_COMMENT = "what is left, under its masks"


def peel(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """The kernel with the last iteration of such loops peeled, and no masks in the others."""
    if not multiplies(kernel.body):
        return kernel
    body = _Peel(kernel).body(kernel.body, None, None)
    return with_body(kernel, body)


class _Peel:
    def __init__(self, kernel: typed.KernelDef) -> None:
        self.kernel = kernel
        self.values: dict[typed.Symbol, typed.Expr] = {}  # the last values of variables
        self.later: Later  # what may be read after the loop

    @cached_property
    def diagonals(self) -> tuple[_Diagonal, ...]:
        """The variables that may be the rows of a causal mask."""
        once = set_once(self.kernel.body)
        fixed = never_set(self.kernel) | once.keys()
        diagonals = (_diagonal(symbol, value, fixed) for symbol, value in once.items())
        return tuple(diagonal for diagonal in diagonals if diagonal)

    @cached_property
    def ranges(self) -> dict[typed.Symbol, Affine]:
        """The variables that are ranges."""
        return {
            symbol: Affine.range(value)
            for symbol, value in set_once(self.kernel.body).items()
            if isinstance(value, typed.Range)
        }

    def body(self, body: typed.Body, outer: _Multiples | None, later: Later | None) -> typed.Body:
        """``outer``: known factors of variables when the body begins; ``later``: what may be read after it."""
        multiples, block = _Multiples(outer), LiveBlock(body, later)
        result: list[typed.Statement] = []
        for position, statement in enumerate(body):
            multiples.passed.append(statement)
            inner = bodies(statement)
            for symbol in inside(statement).sets if inner else ():
                self.values.pop(symbol, None)
            self.later = block.after(position)
            if isinstance(statement, typed.RangeLoop) and (peeled := self._loop(statement, multiples)):
                result += peeled
            elif inner:
                within = block.within(position, statement)
                result.append(with_bodies(statement, partial(self.body, outer=multiples, later=within)))
            else:
                result.append(statement)
                if isinstance(statement, typed.Declare | typed.Assign) and statement.value is not None:
                    self.values[statement.symbol] = statement.value
            for symbol in inside(statement).sets if inner else ():
                self.values.pop(symbol, None)
        return unless_changed(body, result)

    def _loop(self, loop: typed.RangeLoop, multiples: _Multiples) -> typed.Body:
        """The loop and its last iteration; empty if that is not possible or removes no mask."""
        iteration = _full_iteration(loop)
        if iteration is None or len(loop.body) > _MAX_STATEMENTS or not multiplies(loop.body):
            return ()
        if any(map(bodies, loop.body)) or typed.Atomic in kinds_in(loop.body):
            return ()
        if not any(map(decides, expressions(loop.body))):
            return ()
        diagonal = self._ends_on(iteration)
        unmasked = _Unmasked(iteration, self.ranges | iteration.sums, diagonal)
        body = unmasked.body(loop.body)
        if body is loop.body:
            return ()
        step, divisors = iteration.step, multiples.now()
        if unmasked.by_diagonal:
            return self._with_last(loop, body, iteration, loop.step, always=True)
        if _multiple(iteration.count, divisors) % step == 0 and is_power_of_2(step):
            return (replace(loop, body=body),)
        size = loop.step if iteration.up else negated(loop.step)
        return self._with_last(loop, body, iteration, size)

    def _ends_on(self, iteration: _FullIteration) -> _Diagonal | None:
        """The rows that only a loop's last iteration reaches, by its bound."""
        bound = self.values.get(iteration.count.symbol) if isinstance(iteration.count, typed.Name) else None
        if not isinstance(bound, typed.Call) or bound.function != "min" or not iteration.up:
            return None
        ends = [affine_of(argument, _variable) for argument in bound.arguments]
        step = iteration.step
        for diagonal in self.diagonals:
            for end in ends:
                if end is None or not is_power_of_2(step):
                    continue
                behind = end.plus(diagonal.first, -1)
                if not behind.terms and 0 < behind.low == behind.high <= min(diagonal.size, step):
                    return diagonal
        return None

    def _with_last(
        self,
        loop: typed.RangeLoop,
        body: typed.Body,
        iteration: _FullIteration,
        size: typed.Expr,
        always: bool = False,
    ) -> typed.Body:
        """The full iterations, then the remaining one if there is one; ``always``: the last one, full or not."""
        span = loop.span

        def calculate(left: typed.Expr, operator: str, right: typed.Expr) -> typed.Expr:
            return typed.Binary(span, INT, operator, left, right)

        symbol = typed.Symbol("whole" if iteration.up else "rest", INT, span)
        cut = typed.Name(span, INT, symbol)
        if iteration.up:
            unit = typed.Literal(span, INT, 1)
            before = (
                calculate(typed.Call(span, INT, "max", (loop.stop, unit)), "-", unit) if always else loop.stop
            )
            value = calculate(calculate(before, "/", size), "*", size)
            left = typed.Binary(span, BOOL, "<", cut, loop.stop)
        else:
            value = calculate(loop.start, "%", size)
            left = typed.Binary(span, BOOL, ">", cut, typed.Literal(span, INT, 0))
        above = typed.Comments(loop.comments.above)
        return (
            typed.Declare(span, symbol, value, above),
            replace(loop, stop=cut, body=body, comments=typed.Comments((), loop.comments.beside)),
            typed.If(span, left, self._last(loop, cut), (), typed.Comments((_COMMENT,))),
        )

    def _last(self, loop: typed.RangeLoop, variable: typed.Expr) -> typed.Body:
        """A copy of the body without comments and without what only another iteration would read.

        A loop around this one may run it again, with what its last iteration left.
        """
        body = map_expressions(loop.body, lambda expr: rebuild(expr, {loop.symbol: variable}))
        result: list[typed.Statement] = []
        for statement in reversed(body):
            if isinstance(statement, typed.Remark):
                continue
            left = tuple(result)
            if (
                isinstance(statement, typed.Declare | typed.Assign)
                and statement.symbol not in self.later
                and statement.symbol not in reads(left) | assigned(left)
            ):
                continue
            result.append(replace(statement, comments=typed.NO_COMMENTS))
        return tuple(reversed(result))


# ---------------------------------------------------------------- facts about an iteration


@dataclass(frozen=True, slots=True)
class _FullIteration:
    """A full iteration, in which ``gap`` is at least 0. ``count`` is the length of the loop."""

    variable: typed.Symbol
    up: bool
    step: int
    count: typed.Expr
    gap: Affine

    @property
    def sums(self) -> dict[typed.Symbol, Affine]:
        """The variable and the bound, as symbols."""
        return {variable: Affine.symbol(variable) for variable in {self.variable} | names(self.count)}


def _full_iteration(loop: typed.RangeLoop) -> _FullIteration | None:
    """The full iterations of a loop from 0 up to a bound, or from one down to 0."""
    counts = counting(loop)
    if counts is None:
        return None
    step, bound = counts
    if not isinstance(bound, typed.Name) and constant(bound) is None:
        return None
    variable = Affine.symbol(loop.symbol)
    until = affine_of(
        bound, lambda name: Affine.symbol(name.symbol) if isinstance(name, typed.Name) else None
    )
    assert until is not None
    gap = (until.plus(variable, -1) if step > 0 else variable).plus(Affine.constant(-abs(step)))
    return _FullIteration(loop.symbol, step > 0, abs(step), bound, gap)


@dataclass(frozen=True, slots=True)
class _Diagonal:
    """A variable that is ``first`` plus 0 to ``size`` (exclusive), a power of two of which ``first`` is a multiple.

    So none of its elements wraps around. A loop up to ``min(N, first + size)`` in steps of at least ``size`` has in
    all its iterations but the last ``n + step <= first``: so has ``n + rn`` that is at most every element.
    """

    rows: typed.Symbol
    first: Affine
    size: int

    def gap(self, iteration: _FullIteration) -> Affine:
        """The distance from the end of an iteration to the first row, at least 0 except in the last iteration."""
        step = Affine.constant(-iteration.step)
        return Affine.symbol(self.rows).plus(Affine.symbol(iteration.variable), -1).plus(step)


def _diagonal(symbol: typed.Symbol, value: typed.Expr, fixed: Set[typed.Symbol]) -> _Diagonal | None:
    if element_of(value.type) != INT or larger_than(value, _MAX_NODES) or not names(value) <= fixed:
        return None
    total = affine_of_element(value, _variable)
    if total is None or not total.terms:
        return None
    size = total.high - total.low + 1
    if (
        size < 2
        or not is_power_of_2(size)
        or any(count % size for count in (total.low, *total.terms.values()))
    ):
        return None
    return _Diagonal(symbol, Affine(total.terms, total.low, total.low), size)


def _variable(part: typed.Expr) -> Affine | None:
    """A scalar variable as a symbol."""
    return Affine.symbol(part.symbol) if isinstance(part, typed.Name) and not shape_of(part.type) else None


class _Multiples:
    """The power of two that divides each variable after the statements passed, computed on demand."""

    def __init__(self, outer: _Multiples | None) -> None:
        self.passed: list[typed.Statement] = []
        self._outer = outer
        self._divisors: dict[typed.Symbol, int] | None = None

    def now(self) -> Mapping[typed.Symbol, int]:
        """The powers of two; 1 for variables that the blocks of a statement set."""
        divisors = self._divisors
        if divisors is None:
            divisors = self._divisors = {} if self._outer is None else dict(self._outer.now())
        for statement in self.passed:
            if isinstance(statement, typed.Declare | typed.Assign):
                value = statement.value
                divisors[statement.symbol] = 1 if value is None else _multiple(value, divisors)
            elif bodies(statement):
                divisors.update(dict.fromkeys(inside(statement).sets, 1))
        self.passed.clear()
        return divisors


def _multiple(expr: typed.Expr, divisors: Mapping[typed.Symbol, int]) -> int:
    """A power of two that divides an integer, also if it wrapped."""
    value = constant(expr)
    if isinstance(value, int):
        return value & -value or 1 << 31
    match expr:
        case typed.Name(symbol=symbol):
            promise = symbol.multiple_of if symbol.parameter else 1
            return divisors.get(symbol, promise & -promise)
        case typed.Binary(operator="*", type=type_) if type_ == INT:
            return min(_multiple(expr.left, divisors) * _multiple(expr.right, divisors), 1 << 31)
        case typed.Binary(operator="+" | "-", type=type_) if type_ == INT:
            return min(_multiple(expr.left, divisors), _multiple(expr.right, divisors))
        case typed.Call(function="min" | "max", arguments=arguments) if expr.type == INT:
            return min(_multiple(argument, divisors) for argument in arguments)
        case typed.Unary(operator="-", operand=operand) if expr.type == INT:
            return _multiple(operand, divisors)
    return 1


# ---------------------------------------------------------------- an iteration without its masks


@dataclass(slots=True)
class _Unmasked:
    """Rewrites the body of a loop for its full iterations.

    ``sums``: of the loop's variable, its bound, ranges, and variables that are computed from these; ``diagonal``:
    the rows that all iterations but the last end before, represented by the first one; ``by_diagonal``: whether
    that was used; ``true``: variables of the body that are always true.
    """

    iteration: _FullIteration
    sums: dict[typed.Symbol, Affine]
    diagonal: _Diagonal | None = None
    by_diagonal: bool = False
    true: set[typed.Symbol] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.diagonal:
            self.sums = {**self.sums, self.diagonal.rows: Affine.symbol(self.diagonal.rows)}

    def body(self, body: typed.Body) -> typed.Body:
        """The statements without conditions that hold, and without variables for these."""
        once = set_once(body)
        result: list[typed.Statement] = []
        for statement in body:
            changed = map_expressions((statement,), lambda expr: simplified(expr, self._holds))[0]
            if isinstance(changed, typed.Store) and changed.mask is not None and is_true(changed.mask):
                changed = replace(changed, mask=None)
            value = changed.value if isinstance(changed, typed.Declare) and changed.symbol in once else None
            if value is not None:
                self._note(changed.symbol, value)  # type: ignore[union-attr]
            result.append(changed)
        if unless_changed(body, result) is body:
            return body
        unread = self.true - reads(tuple(result))
        return tuple(_without(statement, unread) for statement in result if not _is_idle(statement))

    def _note(self, symbol: typed.Symbol, value: typed.Expr) -> None:
        """Record the value of a variable in each iteration, if it may decide a condition."""
        if is_true(value):
            self.true.add(symbol)
        if element_of(value.type) != INT or larger_than(value, _MAX_NODES):
            return
        total = self._sum(value)
        if total is not None:
            self.sums[symbol] = total

    def _holds(self, claim: typed.Expr) -> bool:
        """Whether a condition is a comparison that holds for all elements of a full iteration, or names one.

        It must hold for C's integers, which wrap: the larger side is at most the variable or the bound, and
        the smaller side is less and not far below 0.
        """
        if isinstance(claim, typed.Name):
            return claim.symbol in self.true
        if not isinstance(claim, typed.Binary) or claim.operator not in ("<", "<=", ">", ">="):
            return False
        low, high = claim.left, claim.right
        if claim.operator in (">", ">="):
            low, high = high, low
        if any(element_of(side.type) != INT or larger_than(side, _MAX_NODES) for side in (low, high)):
            return False
        low_sum, high_sum = self._sum(low), self._sum(high)
        if low_sum is None or high_sum is None:
            return False
        at_most_one = sum(count for count in high_sum.terms.values() if count > 0) <= 1
        is_number = not high_sum.terms and high_sum.low == high_sum.high
        if not is_number and (not high_sum.terms or high_sum.high > 0 or not at_most_one):
            return False
        if low_sum.low < 0 or any(count < 0 for count in low_sum.terms.values()):
            return False
        over = high_sum.plus(low_sum, -1)
        least = 0 if claim.operator in ("<=", ">=") else 1
        gap = over.plus(self.iteration.gap, -1)
        if not gap.terms and gap.low >= least:
            return True
        if self.diagonal is None:
            return False
        gap = over.plus(self.diagonal.gap(self.iteration), -1)
        holds = not gap.terms and gap.low >= least
        self.by_diagonal |= holds
        return holds

    def _sum(self, expr: typed.Expr) -> Affine | None:
        """An integer of the body as a sum of known variables; None if it has other operands."""
        return affine_of_element(
            expr, lambda part: self.sums.get(part.symbol) if isinstance(part, typed.Name) else None
        )


def _is_idle(statement: typed.Statement) -> bool:
    """Whether a variable is set to itself: ``s = true ? s : other`` without its condition."""
    match statement:
        case typed.Assign(symbol=symbol, value=typed.Name(symbol=read), comments=comments):
            return symbol is read and comments is typed.NO_COMMENTS
    return False


def _without(statement: typed.Statement, gone: set[typed.Symbol]) -> typed.Statement:
    """The statement; only its comments if it sets a variable that is removed."""
    if isinstance(statement, typed.Declare) and statement.symbol in gone:
        return typed.Remark(statement.span, statement.comments)
    return statement
