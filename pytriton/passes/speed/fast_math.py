"""What ``fast_math=True`` allows: the same formulas, rounded otherwise than the text says, for less work.

``exp(a - b)`` as one fused multiply-add in front of ``exp2``, where ``b`` is the same for a row of ``a``, and any
other ``exp`` as ``exp2``, which takes results below 2^-126 for 0:

    tl.exp2(s * (scale * 1.4426950408889634) - (m * 1.4426950408889634)[:, None])

A positive scale out of a ``[max]``. Scores are scaled, masked with infinities, and then only looked at for the
largest in each row and in exponentials. The largest is as well scaled afterwards, so the scale moves on into that
multiply-add. A scale that is a parameter is positive in most launches; each is asked, and any other runs the exact
code (``Traits.positive``; runtime/launch/descriptors.py).

``x / sqrt(y)`` as ``x * rsqrt(y)``; ``x / y`` as ``x * (1 / y)`` where ``y`` is the same for a row, and else as the
hardware's approximate division, which gives 0 for ``y`` above 2^126. ``max`` and ``min`` of floats as the
hardware's, which leave a NaN out. Beside double, ``a * b + c`` in one rounding (runtime/compile/compiler.py);
without double that is always so.

Gain: not measured yet.
Switch: ``Settings.fast_math``, which the user sets.
Try without it: never, as it is the user's.
"""

from __future__ import annotations

import math
from dataclasses import replace
from math import prod

from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Body,
    Broadcast,
    Call,
    Declare,
    Expand,
    Expr,
    KernelDef,
    Literal,
    Name,
    Reduce,
    Select,
    Statement,
    Symbol,
)
from pytriton.lang.tree.types import FLOAT, element_of, shape_of
from pytriton.lang.tree.walk import (
    bodies,
    inside,
    map_bodies,
    map_expressions,
    names,
    with_children,
    with_expressions,
)
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import never_set

__all__ = ["fast_math"]

_LOG2_E = 1.4426950408889634


def fast_math(kernel: KernelDef, context: Context) -> KernelDef:
    """The kernel with such arithmetic, if it is allowed; what must be positive in a launch is in the traits."""
    if not context.settings.fast_math:
        return kernel
    scales = _Scales(never_set(kernel))
    body = map_expressions(map_bodies(kernel.body, scales.moved), _fast)
    context.traits = replace(context.traits, positive=tuple(sorted(scales.relied_upon)))
    return kernel if body is kernel.body else replace(kernel, body=body)


# ---------------------------------------------------------------- scales of scores


class _Kept(Exception):
    """Scores are used in a way that keeps their scale where it is."""


class _Scales:
    """Moves scales out of the statements that apply them; ``relied_upon`` are the parameters among them."""

    def __init__(self, fixed: set[Symbol]) -> None:
        self._fixed = fixed
        self.relied_upon: set[str] = set()

    def moved(self, body: Body) -> Body:
        """The block with each scale that can move where the scores are used, not where they are made."""
        for place, statement in enumerate(body):
            match statement:
                case Declare(symbol=symbol, value=Binary(operator="*", left=scores, right=scale) as value):
                    if shape_of(scores.type) != shape_of(value.type):
                        scores, scale = scale, scores
                    if not self._is_positive(scale) or shape_of(scores.type) != shape_of(symbol.type):
                        continue
                    try:
                        uses = tuple(_scaled_later(use, symbol, scale) for use in body[place + 1 :])
                    except _Kept:
                        continue
                    if isinstance(scale, Name):
                        self.relied_upon.add(scale.symbol.name)
                    body = (*body[:place], replace(statement, value=scores), *uses)
        return body

    def _is_positive(self, scale: Expr) -> bool:
        """Whether it is a positive number, or a parameter of which each launch can be asked."""
        if scale.type != FLOAT:
            return False
        value = constant(scale)
        if value is not None:
            return 0 < value < math.inf
        return isinstance(scale, Name) and scale.symbol in self._fixed


def _scaled_later(statement: Statement, scores: Symbol, scale: Expr) -> Statement:
    """A statement that finds scores without their scale; raises ``_Kept`` where it does more than it may."""
    known = inside(statement)
    if scores not in known.reads | known.sets:
        return statement
    if bodies(statement):
        raise _Kept
    match statement:
        case Assign(symbol=symbol, value=Select() as masked) if symbol is scores:
            if scores in names(masked.condition) or not _masks(masked, scores):
                raise _Kept
            return statement
        case Declare(symbol=symbol) | Assign(symbol=symbol) if symbol is scores:
            raise _Kept
    return with_expressions(statement, lambda expr: _with_scale(expr, scores, scale))


def _masks(masked: Select, scores: Symbol) -> bool:
    """Whether a choice is between scores and an infinity, which scales to itself."""
    for kept, other in ((masked.yes, masked.no), (masked.no, masked.yes)):
        value = constant(other.operand if isinstance(other, Broadcast) else other)
        if isinstance(kept, Name) and kept.symbol is scores and value is not None and math.isinf(value):
            return True
    return False


def _with_scale(expr: Expr, scores: Symbol, scale: Expr) -> Expr:
    if scores not in names(expr):
        return expr
    match expr:
        case Reduce(operator="max" | "min", operand=Name()):
            return Binary(expr.span, expr.type, "*", expr, scale)
        case Call(function="exp", arguments=(Binary(operator="-", left=Name() as left) as power,)):
            if left.symbol is scores:
                scaled = Binary(left.span, left.type, "*", left, scale)
                right = _with_scale(power.right, scores, scale)
                return replace(expr, arguments=(replace(power, left=scaled, right=right),))
        case Name():
            raise _Kept
    return with_children(expr, lambda child: _with_scale(child, scores, scale))


# ---------------------------------------------------------------- functions and quotients


def _fast(expr: Expr) -> Expr:
    expr = with_children(expr, _fast)
    match expr:
        case Call(function="exp", arguments=(power,)) if element_of(expr.type) == FLOAT:  # type: ignore[arg-type]
            return replace(expr, function="exp2", arguments=(_in_log2(power),))
        case Binary(operator="/") if element_of(expr.type) == FLOAT:  # type: ignore[arg-type]
            return _quotient(expr)
        case Call(function="max" | "min" as function) if element_of(expr.type) == FLOAT:  # type: ignore[arg-type]
            return replace(expr, function=f"{function}imum")
    return expr


def _in_log2(power: Expr) -> Expr:
    """A power of e as one of 2: with one multiply-add, where it is a difference from what a row shares."""
    if isinstance(power, Binary) and power.operator == "-" and _is_shared(power.right, power):
        return replace(power, left=_times(power.left, _LOG2_E), right=_times(power.right, _LOG2_E))
    return _times(power, _LOG2_E)


def _times(expr: Expr, number: float) -> Expr:
    """The product with a number, worked out where there are fewest elements."""
    match expr:
        case Expand(operand=operand) | Broadcast(operand=operand):
            return _on(expr, _times(operand, number))
        case Binary(operator="*", left=left, right=right) if _is_shared(right, left):
            return replace(expr, right=_times(right, number))
        case Binary(operator="*", left=left, right=right) if _is_shared(left, right):
            return replace(expr, left=_times(left, number))
    return Binary(expr.span, expr.type, "*", expr, Literal(expr.span, FLOAT, number, weak=True))


def _quotient(expr: Binary) -> Expr:
    """A division in fewer instructions."""
    left, right = expr.left, expr.right
    match right:
        case Call(function="sqrt"):
            return _product(expr, replace(right, function="rsqrt"))
        case Expand(operand=Call(function="sqrt") as root) | Broadcast(operand=Call(function="sqrt") as root):
            return _product(expr, _on(right, replace(root, function="rsqrt")))
    if _is_shared(right, left):
        return replace(expr, operator="*", right=_reciprocal(right))
    if shape_of(expr.type) and shape_of(left.type) == shape_of(right.type):
        return Call(expr.span, expr.type, "divide", (left, right))
    return expr


def _product(quotient: Binary, reciprocal: Expr) -> Expr:
    """What a reciprocal makes of a quotient."""
    if constant(quotient.left) == 1 and shape_of(quotient.type) == shape_of(reciprocal.type):
        return reciprocal
    return replace(quotient, operator="*", right=reciprocal)


def _reciprocal(expr: Expr) -> Expr:
    match expr:
        case Expand(operand=operand) | Broadcast(operand=operand):
            return _on(expr, _reciprocal(operand))
    return Binary(expr.span, expr.type, "/", Literal(expr.span, FLOAT, 1.0, weak=True), expr)


def _on(spread: Expand | Broadcast, operand: Expr) -> Expr:
    """The same axes over another operand."""
    return replace(spread, operand=operand)


def _is_shared(expr: Expr, beside: Expr) -> bool:
    """Whether an operand has fewer elements than what it meets."""
    while isinstance(expr, Expand | Broadcast):
        expr = expr.operand
    return prod(shape_of(expr.type)) < prod(shape_of(beside.type))
