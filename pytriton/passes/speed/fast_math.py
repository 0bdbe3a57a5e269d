"""What ``fast_math=True`` allows: the same formulas with other roundings, for less work.

``exp(a - b)`` as one fused multiply-add in front of ``exp2``, where ``b`` is the same for a row of ``a``, and any
other ``exp`` as ``exp2``, which flushes results below 2^-126 to 0. If a loop subtracts such a variable, typically
the largest score so far, the variable is kept in units of log2(e):

    scale_log2 = scale * 1.4426950408889634
    ...
        m_new = tl.maximum(m, tl.max(s, axis=1) * scale_log2)
        alpha = tl.exp2(m - m_new)
        p = tl.exp2(s * scale_log2 - m_new[:, None])

A positive scale moves out of a ``[max]``. Scores are scaled, masked with infinities, and then used only in a
maximum of each row and in exponentials. The maximum can be scaled afterwards, so the scale moves into that
multiply-add. A scale that is a parameter is positive in most launches; this is checked, and other launches run the
exact code (``Traits.positive``; runtime/launch/device.py).

``x / sqrt(y)`` as ``x * rsqrt(y)``; ``x / y`` as ``x * (1 / y)`` if ``y`` is the same for a row, else as the
hardware's approximate division, which gives 0 for ``y`` above 2^126. ``max`` and ``min`` of floats as the
hardware's, which ignore NaN. In kernels with double, ``a * b + c`` with one rounding (runtime/compile/compiler.py);
in others that is always so.

Gain: attention on an H200 with Triton 3.6, 1.00 to 1.03 of a hand-written kernel at the same configs for 0.89 to
1.02 (benchmarks/NOTES.md).
Switch: ``Settings.fast_math``, which the user sets.
Try without it: never, as the user decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Set
from dataclasses import replace
from math import prod

from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, scalar_of
from pytriton.lang.tree.types import FLOAT, element_of, shape_of
from pytriton.lang.tree.walk import (
    bodies,
    inside,
    kinds,
    kinds_in,
    map_bodies,
    map_body,
    map_expressions,
    names,
    statements,
    with_children,
    with_expressions,
)
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import assignments, never_set, nodes, with_body

# ---------------------------------------------------------------- exp2
# ``exp`` in a loop with a matrix product -> ``exp2``, which the hardware implements.
#
# Triton's ``exp(x)`` of float is the hardware's ``exp2`` of ``x * log2(e)``, with three more instructions around it
# that keep subnormal results, those below 2^-126; its ``exp2`` flushes them to 0. In a loop with a matrix product
# the tensor cores wait for other computations, and an exponential for each element of a product is most of these
# (attention: a fifth of the time). So there ``exp(x)`` becomes ``exp2(x * log2(e))``: the same numbers, infinities
# and NaN, and on a GPU 0 below 2^-126.
#
# Gain: attention on an H200 with Triton 3.6, 351 TFLOP/s for 322 at head size 64, 395 for 313 at 128; with peel.py
# 385 and 451 (benchmarks/NOTES.md).
# Switch: its row in ``PASSES``.
# Try without it: with every Triton after 3.6; newer ones are not measured yet.


LOG2_E = 1.4426950408889634
MAX_SCALED = 2.3e38  # what stays finite times LOG2_E; larger numbers stand for infinity, as -FLT_MAX does


def exp2(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``exp(s)`` in a loop with a product as ``exp2(s * 1.4426950408889634)``."""
    body = map_body(kernel.body, _statement)
    return with_body(kernel, body)


def _statement(statement: typed.Statement) -> typed.Statement:
    if not isinstance(statement, typed.RangeLoop | typed.For | typed.While) or not {
        typed.Call,
        typed.Dot,
    } <= kinds_in(statement.body):
        return statement
    body = map_expressions(statement.body, lambda expr: _expr(expr) if typed.Call in kinds(expr) else expr)
    return with_body(statement, body)


def _expr(expr: typed.Expr) -> typed.Expr:
    expr = with_children(expr, _expr)
    if not isinstance(expr, typed.Call) or expr.function != "exp" or element_of(expr.type) != FLOAT:
        return expr
    (argument,) = expr.arguments
    factor = typed.Literal(expr.span, FLOAT, LOG2_E, weak=True)
    return replace(
        expr, function="exp2", arguments=(typed.Binary(expr.span, expr.type, "*", argument, factor),)
    )


def fast_math(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel with such arithmetic, if allowed; the traits record the parameters that must be positive."""
    if not context.settings.fast_math:
        return kernel
    scales = _Scales(never_set(kernel))
    body = map_bodies(kernel.body, scales.moved)
    body = map_body(body, _Powers(body).statement)
    body = _calculated_once(map_expressions(body, _fast), never_set(kernel))
    positive = (at for at, symbol in enumerate(kernel.parameters) if symbol in scales.relied_upon)
    context.traits = replace(context.traits, positive=tuple(positive))
    return with_body(kernel, body)


# ---------------------------------------------------------------- scales of scores


class _Kept(Exception):
    """A use of scores before which their scale must be applied."""


class _Scales:
    """Moves scales out of the statements that apply them; ``relied_upon`` are the parameters among them."""

    def __init__(self, fixed: set[typed.Symbol]) -> None:
        self._fixed = fixed
        self.relied_upon: set[typed.Symbol] = set()

    def moved(self, body: typed.Body) -> typed.Body:
        """The block with scales moved from the definitions of scores to their uses, where possible."""
        for place, statement in enumerate(body):
            match statement:
                case typed.Declare(
                    symbol=symbol, value=typed.Binary(operator="*", left=scores, right=scale) as value
                ):
                    if shape_of(scores.type) != shape_of(value.type):
                        scores, scale = scale, scores
                    if not self._is_positive(scale) or shape_of(scores.type) != shape_of(symbol.type):
                        continue
                    try:
                        uses = tuple(_scaled_later(use, symbol, scale) for use in body[place + 1 :])
                    except _Kept:
                        continue
                    if isinstance(scale, typed.Name):
                        self.relied_upon.add(scale.symbol)
                    body = (*body[:place], replace(statement, value=scores), *uses)
        return body

    def _is_positive(self, scale: typed.Expr) -> bool:
        """Whether it is a positive number, or a parameter, which each launch can check."""
        if scale.type != FLOAT:
            return False
        value = constant(scale)
        if value is not None:
            return 0 < value < math.inf
        return isinstance(scale, typed.Name) and scale.symbol in self._fixed


def _scaled_later(statement: typed.Statement, scores: typed.Symbol, scale: typed.Expr) -> typed.Statement:
    """A statement that uses unscaled scores; raises ``_Kept`` if it has other uses."""
    effects = inside(statement)
    if scores not in effects.reads | effects.sets:
        return statement
    if bodies(statement):
        raise _Kept
    match statement:
        case typed.Assign(symbol=symbol, value=typed.Select() as masked) if symbol is scores:
            if scores in names(masked.condition) or not _masks(masked, scores):
                raise _Kept
            return statement
        case typed.Declare(symbol=symbol) | typed.Assign(symbol=symbol) if symbol is scores:
            raise _Kept
    return with_expressions(statement, lambda expr: _with_scale(expr, scores, scale))


def _masks(masked: typed.Select, scores: typed.Symbol) -> bool:
    """Whether a selection is between scores and an infinity, which scaling does not change."""
    for kept, other in ((masked.yes, masked.no), (masked.no, masked.yes)):
        value = constant(other.operand if isinstance(other, typed.Broadcast) else other)
        if (
            isinstance(kept, typed.Name)
            and kept.symbol is scores
            and value is not None
            and abs(value) == math.inf
        ):
            return True
    return False


def _with_scale(
    expr: typed.Expr, scores: typed.Symbol, scale: typed.Expr, exponent: bool = False
) -> typed.Expr:
    """An expression over unscaled scores; ``exponent``: it is one, or what one subtracts from."""
    if scores not in names(expr):
        return expr
    match expr:
        case typed.Name() if not exponent:
            raise _Kept
        case typed.Name() | typed.Reduce(operator="max" | "min", operand=typed.Name()):
            return typed.Binary(expr.span, expr.type, "*", expr, scale)
        case typed.Call(function="exp", arguments=(typed.Binary(operator="-") as power,)):
            return replace(expr, arguments=(_with_scale(power, scores, scale, True),))
        case typed.Binary(operator="-", left=left, right=right) if exponent:
            first = _with_scale(left, scores, scale, True)
            return replace(expr, left=first, right=_with_scale(right, scores, scale))
    return with_children(expr, lambda child: _with_scale(child, scores, scale))


# ---------------------------------------------------------------- powers of e as powers of 2


class _Powers:
    """Writes exponentials as powers of 2, and the variables that they subtract in units of log2(e).

    Those are the variables that a loop subtracts from each score of a row, typically the largest so far, and those
    that they are copied from or compared with, except parameters, which begin in units of their own. Other uses
    multiply by log(2).
    """

    def __init__(self, body: typed.Body) -> None:
        self._scaled: set[typed.Symbol] = set()
        for loop in statements(body):
            if isinstance(loop, typed.RangeLoop | typed.For | typed.While):
                self._scaled.update(*map(_subtracted, nodes(loop.body, typed.Call)))
        links = [{symbol, *_compared(value)} for symbol, value in assignments(body) if not symbol.parameter]
        while any(self._scaled & link and not link <= self._scaled for link in links):
            self._scaled.update(*(link for link in links if self._scaled & link))

    def statement(self, statement: typed.Statement) -> typed.Statement:
        if (
            isinstance(statement, typed.Declare | typed.Assign)
            and statement.symbol in self._scaled
            and statement.value
        ):
            return replace(statement, value=self._in_log2(statement.value))
        return with_expressions(statement, self._plain)

    def _plain(self, expr: typed.Expr) -> typed.Expr:
        """An expression with its old value."""
        match expr:
            case typed.Name(symbol=symbol) if symbol in self._scaled:
                return _times(expr, math.log(2))
            case typed.Call(function="exp", arguments=(power,)) if _is_float(expr):
                return replace(expr, function="exp2", arguments=(self._in_log2(power),))
        return with_children(expr, self._plain)

    def _in_log2(self, expr: typed.Expr) -> typed.Expr:
        """An expression times log2(e): a difference as one multiply-add, where a row shares what is subtracted."""
        match expr:
            case typed.Name(symbol=symbol) if symbol in self._scaled:
                return expr
            case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
                return _on(expr, self._in_log2(operand))
            case typed.Call(function="max" | "min"):
                return with_children(expr, self._in_log2)
            case typed.Binary(operator="-", right=right):
                if _is_shared(right, expr) or not names(expr).isdisjoint(self._scaled):
                    return with_children(expr, self._in_log2)
        value = constant(expr)
        return expr if value is not None and abs(value) > MAX_SCALED else _times(self._plain(expr), LOG2_E)


def _subtracted(call: typed.Call) -> set[typed.Symbol]:
    """The variable that an exponential subtracts from every element of a row."""
    if call.function != "exp" or not _is_float(call):
        return set()
    match call.arguments[0]:
        case typed.Binary(operator="-", right=right) as power if _is_shared(right, power):
            while isinstance(right, typed.Expand | typed.Broadcast):
                right = right.operand
            return {right.symbol} if isinstance(right, typed.Name) and not right.symbol.parameter else set()
    return set()


def _compared(expr: typed.Expr) -> set[typed.Symbol]:
    """The variables whose maximum or minimum a value is."""
    match expr:
        case typed.Name(symbol=symbol) if not symbol.parameter:
            return {symbol}
        case typed.Call(function="max" | "min", arguments=arguments):
            return set().union(*map(_compared, arguments))
    return set()


def _calculated_once(body: typed.Body, fixed: set[typed.Symbol]) -> typed.Body:
    """The statements, with variables for products of parameters and log2(e) that are used more than once."""
    factors = [node.left.symbol for node in nodes(body, typed.Binary) if _is_log2_of(node, fixed)]  # type: ignore[union-attr]
    named = {
        symbol: typed.Symbol(f"{symbol.name}_log2", FLOAT, symbol.span)
        for symbol, count in Counter(factors).items()
        if count > 1
    }
    declared: dict[typed.Symbol, typed.Declare] = {}

    def change(expr: typed.Expr) -> typed.Expr:
        if isinstance(expr, typed.Binary) and _is_log2_of(expr, named.keys()):
            symbol = named[expr.left.symbol]  # type: ignore[union-attr]
            declared.setdefault(symbol, typed.Declare(expr.span, symbol, expr))
            return typed.Name(expr.span, FLOAT, symbol)
        return with_children(expr, change)

    changed = map_expressions(body, change)
    return (*declared.values(), *changed)


def _is_log2_of(expr: typed.Binary, parameters: Set[typed.Symbol]) -> bool:
    match expr:
        case typed.Binary(operator="*", left=typed.Name(symbol=symbol), right=typed.Literal(value=value)):
            return symbol in parameters and symbol.type == FLOAT and value == LOG2_E
    return False


# ---------------------------------------------------------------- quotients


def _fast(expr: typed.Expr) -> typed.Expr:
    expr = with_children(expr, _fast)
    match expr:
        case typed.Binary(operator="/") if _is_float(expr):
            return _quotient(expr)
        case typed.Call(function="max" | "min" as function) if _is_float(expr):
            return replace(expr, function=f"{function}imum")
    return expr


def _times(expr: typed.Expr, number: float) -> typed.Expr:
    """The product with a number, computed where there are fewest elements."""
    match expr:
        case typed.Literal(value=value):
            return replace(expr, value=value * number)
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
            return _on(expr, _times(operand, number))
        case typed.Binary(operator="*", left=left, right=right) if _is_shared(right, left):
            return replace(expr, right=_times(right, number))
        case typed.Binary(operator="*", left=left, right=right) if _is_shared(left, right):
            return replace(expr, left=_times(left, number))
    return typed.Binary(expr.span, expr.type, "*", expr, typed.Literal(expr.span, FLOAT, number, weak=True))


def _quotient(expr: typed.Binary) -> typed.Expr:
    """A division in fewer instructions."""
    left, right = expr.left, expr.right
    match right:
        case typed.Call(function="sqrt"):
            return _product(expr, replace(right, function="rsqrt"))
        case (
            typed.Expand(operand=typed.Call(function="sqrt") as root)
            | typed.Broadcast(operand=typed.Call(function="sqrt") as root)
        ):
            return _product(expr, _on(right, replace(root, function="rsqrt")))
    if _is_shared(right, left):
        return replace(expr, operator="*", right=_reciprocal(right))
    if shape_of(expr.type) and shape_of(left.type) == shape_of(right.type):
        return typed.Call(expr.span, expr.type, "divide", (left, right))
    return expr


def _product(quotient: typed.Binary, reciprocal: typed.Expr) -> typed.Expr:
    """A quotient as the product with a reciprocal."""
    if constant(quotient.left) == 1 and shape_of(quotient.type) == shape_of(reciprocal.type):
        return reciprocal
    return replace(quotient, operator="*", right=reciprocal)


def _reciprocal(expr: typed.Expr) -> typed.Expr:
    match expr:
        case typed.Expand(operand=operand) | typed.Broadcast(operand=operand):
            return _on(expr, _reciprocal(operand))
    return typed.Binary(expr.span, expr.type, "/", typed.Literal(expr.span, FLOAT, 1.0, weak=True), expr)


def _on(spread: typed.Expand | typed.Broadcast, operand: typed.Expr) -> typed.Expr:
    """The same axes over another operand."""
    return replace(spread, operand=operand)


def _is_shared(expr: typed.Expr, beside: typed.Expr) -> bool:
    """Whether an operand has fewer elements than the other one."""
    while isinstance(expr, typed.Expand | typed.Broadcast):
        expr = expr.operand
    return prod(shape_of(expr.type)) < prod(shape_of(beside.type))


def _is_float(expr: typed.Expr) -> bool:
    """Whether an operation gives float, or a block of it."""
    return scalar_of(expr.type) == FLOAT
