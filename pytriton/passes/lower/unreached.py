"""Removes dead code: loops whose first test fails, branches of an ``if`` with a known condition.

``for (i = 0; i < 0; i++)`` may result from a macro or a tile size, and so may ``if (lda * K != K * lda)``. It costs
nothing, but an old Triton fails on a load or a store in code that it finds to be dead only after it has folded
constants: TritonGPUCoalesce needs facts about pointers that its analysis did not visit. So such code is removed
before.

The state at a place is the number of each variable's value there. A loop starts with what holds before it and after
each iteration: assumed first, then checked by a pass over the body. Outside of loops a branch on constants stays,
as Triton removes it early enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytriton.lang.recording import term_of
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.types import PointerType, ScalarType, element_of
from pytriton.lang.tree.walk import assigned, children, names, plain_values, statements, with_children
from pytriton.passes.analysis.affine import Affine, combine
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.liveness import remove_unread
from pytriton.passes.analysis.queries import acts, sources, unless_changed, values_of, with_body

# ---------------------------------------------------------------- numbering
# Value numbering: which values of a kernel are equal for all arguments.
#
# Two expressions have the same number if they are the same operation on the same numbers: ``s * n`` and ``n * s``,
# the variables ``a`` and ``b`` after ``a = s + n; b = n + s``. Sums of integers are compared as sums, so ``x + 1 -
# 1`` is ``x``. A load equals an earlier one as long as nothing was written in between. ``constant`` is the value of
# a number that is the same in all launches: ``x - x``, ``x != x`` of integers, ``3 > 2``.


Numbers = dict[typed.Symbol, int]  # the number of each assigned variable's value

_COMMUTATIVE = frozenset(("*", "&", "|", "^", "==", "!=", "&&", "||"))
_REFLEXIVE = {"==": 1, "<=": 1, ">=": 1, "!=": 0, "<": 0, ">": 0, "^": 0}
_ABSORBING = {"*": 0, "&": 0, "&&": 0}


class Numbering:
    """The value numbers of one kernel."""

    late: bool  # whether a constant was found by more than folding since this was set to False

    def __init__(self) -> None:
        self.late = False
        self._numbers: dict[Any, int] = {}
        self._constants: dict[int, int | float] = {}
        self._sums: dict[int, Affine] = {}
        self._moment = 0

    def written(self) -> None:
        """Memory may have changed: no load after this equals one before it."""
        self._moment += 1

    def new(self) -> int:
        """The number of an unknown value."""
        return self._number("new", len(self._numbers))

    def either(self, place: int, symbol: typed.Symbol) -> int:
        """The number of a variable's value where several paths join; ``place`` is a new number."""
        return self._number("either", place, symbol)

    def _number(self, *key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def constant(self, number: int) -> int | float | None:
        """The value with this number, if known."""
        return self._constants.get(number)

    def of(self, expr: typed.Expr, numbers: Numbers) -> int:
        """The number of an expression's value, with those of variables from ``numbers``."""
        match expr:
            case typed.Name(symbol=symbol) if symbol.value is None:
                return self.value_of(symbol, numbers)
            case typed.Literal() | typed.Constexpr() | typed.Name():
                value = constant(expr)
                return self._atom(expr) if value is None else self._literal(value, expr)
            case _:
                below = [self.of(child, numbers) for child in children(expr)]
                folded = self._folded(expr, below)
                number = self._operation(expr, below) if folded is None else folded
                self.late |= number in self._constants and any(b not in self._constants for b in below)
                return number

    def value_of(self, symbol: typed.Symbol, numbers: Numbers) -> int:
        """The number of a variable's value."""
        return numbers[symbol] if symbol in numbers else self._number("variable", symbol)

    def _literal(self, value: int | float, expr: typed.Expr) -> int:
        number = self._number("constant", term_of(value), expr.type)
        self._constants[number] = value
        if isinstance(value, int) and _bits(expr):
            self._sums[number] = Affine.constant(value).modulo(1 << _bits(expr))
        return number

    def _atom(self, expr: typed.Expr) -> int:
        return self._number("atom", id(type(expr)), expr.type, plain_values(expr))

    def _folded(self, expr: typed.Expr, below: list[int]) -> int | None:
        """The number of an operation that constant or equal operands decide."""
        values = [self._constants.get(number) for number in below]
        match expr:
            case typed.Binary(operator=operator):
                if _exact(expr.left) and below[0] == below[1] and operator in _REFLEXIVE:
                    return self._truth(_REFLEXIVE[operator], expr)
                if operator in _ABSORBING and 0 in values and _exact(expr.left):
                    return self._truth(0, expr)
                if operator == "||" and any(value is not None and value != 0 for value in values):
                    return self._truth(1, expr)
                if operator in "&|" and below[0] == below[1] and expr.type == expr.left.type:
                    return below[0]
            case typed.Select():
                taken = below[1] if below[1] == below[2] or values[0] else below[2]
                if (below[1] == below[2] or values[0] is not None) and _alike(expr):
                    return taken
            case typed.Cast(operand=operand) if expr.type == operand.type:
                return below[0]
        if below and None not in values and isinstance(expr.type, ScalarType):
            pairs = zip(children(expr), values, strict=True)
            literals = iter([typed.Literal(c.span, c.type, v) for c, v in pairs])  # type: ignore[arg-type]
            value = constant(with_children(expr, lambda _: next(literals)))
            if value is not None:
                return self._literal(value, expr)
        return None

    def _truth(self, value: int, expr: typed.Expr) -> int | None:
        return self._literal(value, expr) if isinstance(expr.type, ScalarType) else None

    def _operation(self, expr: typed.Expr, below: list[int]) -> int:
        total = self._sum(expr, below)
        if total is not None:
            if not total.terms:
                return self._literal(_signed(total.low, expr), expr)
            if total.low == 0 and list(total.terms.values()) == [1]:
                (number,) = total.terms
                return number  # type: ignore[no-any-return]
            number = self._number("sum", expr.type, total.key)
            self._sums[number] = total
            return number
        if isinstance(expr, typed.Atomic) or (
            isinstance(expr, typed.Call) and expr.function in ("barrier", "printf")
        ):
            self.written()
            return self.new()
        moment = self._moment if isinstance(expr, typed.Load) else None
        operands = tuple(below)
        if isinstance(expr, typed.Binary) and (expr.operator in _COMMUTATIVE or expr.operator == "+"):
            operands = tuple(sorted(below))
        elements = tuple(child.type for child in children(expr))
        return self._number(type(expr), expr.type, plain_values(expr), operands, elements, moment)

    def _sum(self, expr: typed.Expr, below: list[int]) -> Affine | None:
        """An integer as a sum of numbered values, modulo its width."""
        bits = _bits(expr)
        if not bits or not isinstance(expr, typed.Unary | typed.Binary) or not _alike(expr):
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


def _bits(expr: typed.Expr) -> int:
    """The width of a single integer, in which it wraps; 0 for any other value."""
    return expr.type.bits if isinstance(expr.type, ScalarType) and expr.type.is_integer else 0


def _alike(expr: typed.Expr) -> bool:
    """Whether the operands (of a selection, its values) have the type of the whole."""
    operands = (expr.yes, expr.no) if isinstance(expr, typed.Select) else children(expr)
    return all(operand.type == expr.type for operand in operands)


def _signed(number: int, expr: typed.Expr) -> int:
    """The value of these bits in the expression's type."""
    assert isinstance(expr.type, ScalarType)
    bits = expr.type.bits
    return number - (1 << bits) if expr.type.signed and number >> (bits - 1) else number


def _exact(expr: typed.Expr) -> bool:
    """Whether a value of this type equals itself: all do but floats."""
    element = element_of(expr.type)
    return isinstance(element, PointerType) or not element.is_float


_MAX_VISITS = 2000  # statements visited before loops are assumed to change all that they assign


# Triton 3.6: fails on accesses in code that is never entered.
def unreached(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """The kernel without the loops and the branches that never run."""
    deciding = _deciding(kernel.body)
    if deciding is None:
        return kernel
    body = _Reached(deciding).body(kernel.body, {}, inside=False)
    return remove_unread(kernel, with_body(kernel, body))


def _deciding(body: typed.Body) -> set[typed.Symbol] | None:
    """The variables on which a branch or a loop depends; None without any branch or loop."""
    conditions = [
        statement.condition
        for statement in statements(body)
        if isinstance(statement, typed.If | typed.While | typed.For) and statement.condition is not None
    ]
    return sources(conditions, values_of(body)) if conditions else None


class _Reached:
    def __init__(self, deciding: set[typed.Symbol]) -> None:
        self._visits = _MAX_VISITS
        self._deciding = deciding
        self._numbering = Numbering()
        self._late: set[typed.Symbol] = set()  # variables that may hold constants which Triton finds late

    def body(self, body: typed.Body, numbers: Numbers, *, inside: bool) -> typed.Body:
        """The statements that may run; ``numbers`` becomes the state after them."""
        result: list[typed.Statement] = []
        self._visits -= len(body)
        for statement in body:
            match statement:
                case typed.Declare(symbol=symbol) | typed.Assign(symbol=symbol):
                    self._learn(numbers, symbol, statement.value)
                    result.append(statement)
                case typed.If():
                    left = self._if(statement, numbers, inside=inside)
                    result += left
                    if left and isinstance(left[-1], typed.Return):
                        break  # a branch that is always taken: nothing after it runs
                case typed.While() | typed.For() | typed.RangeLoop():
                    result += self._loop(statement, numbers, inside=inside)
                case _:
                    self._numbering.written()
                    result.append(statement)
        return unless_changed(body, result)

    def _if(self, statement: typed.If, numbers: Numbers, *, inside: bool) -> typed.Body:
        decided = self._decided(statement.condition, numbers)
        if decided is not None and (
            self._numbering.late or (inside and constant(statement.condition) is None)
        ):
            taken = statement.then if decided else statement.otherwise
            comments = statement.comments
            above: typed.Body = (
                (typed.Remark(statement.span, comments),) if comments.above or comments.beside else ()
            )
            return above + self.body(taken, numbers, inside=inside)
        other = dict(numbers)
        then = self.body(statement.then, numbers, inside=inside)
        otherwise = self.body(statement.otherwise, other, inside=inside)
        self._meet(numbers, other, statement.then + statement.otherwise, self._numbering.new())
        if then is statement.then and otherwise is statement.otherwise:
            return (statement,)
        return (replace(statement, then=then, otherwise=otherwise),)

    def _loop(
        self, loop: typed.While | typed.For | typed.RangeLoop, numbers: Numbers, *, inside: bool
    ) -> typed.Body:
        init: typed.Body = ()
        step: typed.Body = ()
        if isinstance(loop, typed.For):
            init, step = self.body(loop.init, numbers, inside=inside), loop.step
        condition = None if isinstance(loop, typed.RangeLoop) else loop.condition
        if condition is not None and self._decided(condition, numbers) == 0:
            return init
        self._assume(loop, loop.body + step, numbers)
        body = self.body(loop.body, dict(numbers), inside=True)
        self._numbering.written()
        if body is loop.body and (not isinstance(loop, typed.For) or init is loop.init):
            return (loop,)
        return (
            replace(loop, init=init, body=body) if isinstance(loop, typed.For) else replace(loop, body=body),
        )

    def _assume(
        self, loop: typed.While | typed.For | typed.RangeLoop, body: typed.Body, numbers: Numbers
    ) -> None:
        """Forget what does not hold at the start of every iteration; the rest holds after the loop, too."""
        self._numbering.written()
        iteration = self._numbering.new()
        if isinstance(loop, typed.RangeLoop):
            numbers[loop.symbol] = iteration
        while self._visits > 0:
            after = dict(numbers)
            self.body(body, after, inside=True)
            if not self._meet(numbers, after, body, iteration):
                return
        for symbol in assigned(body):
            numbers[symbol] = self._numbering.new()

    def _learn(self, numbers: Numbers, symbol: typed.Symbol, value: typed.Expr | None) -> None:
        if symbol not in self._deciding:
            if value is not None and acts(value):
                self._numbering.written()
        elif value is None:
            numbers[symbol] = self._numbering.new()
        else:
            self._numbering.late = False
            numbers[symbol] = self._numbering.of(value, numbers)
            if self._numbering.late or names(value) & self._late:
                self._late.add(symbol)

    def _decided(self, condition: typed.Expr, numbers: Numbers) -> int | float | None:
        """The value of a condition, if it is always the same and known."""
        if acts(condition):
            self._numbering.written()
            return None
        self._numbering.late = bool(names(condition) & self._late)
        return self._numbering.constant(self._numbering.of(condition, numbers))

    def _meet(self, numbers: Numbers, other: Numbers, body: typed.Body, place: int) -> bool:
        """Join two states after ``body`` into ``numbers``; whether it changed.

        ``place`` is a number for the join; a node does not identify it, as it may occur at several places.
        """
        less = False
        for symbol in assigned(body) & self._deciding:
            mine = self._numbering.value_of(symbol, numbers)
            either = self._numbering.either(place, symbol)
            if mine not in (self._numbering.value_of(symbol, other), either):
                numbers[symbol] = either
                less = True
        return less
