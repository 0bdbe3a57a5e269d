"""Integer divisions by what may be zero -> divisions by 1 there.

``x != 0 ? n / x : 0`` divides where x is 0, too, as nothing is short-circuited; the language leaves that quotient
unspecified, and the select throws it away. LLVM however takes a division as the word that x is not 0, and then
drops every test of it. So a divisor gets a 1 for a 0 where the kernel can tell the two apart: where it was loaded
(masked elements are 0), where a variable in it is compared with a constant or taken for a truth value, and where
it is a block that will be padded (passes/lower/pad.py: nobody knows what stands in the padding).
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, scalar_of
from pytriton.lang.tree.types import BOOL, element_of, shape_of, with_element
from pytriton.lang.tree.walk import expressions, has_memory, map_expressions, names, walk, with_children
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import assignments

_COMPARISONS = frozenset(("<", ">", "<=", ">=", "==", "!="))


def divisors(kernel: typed.KernelDef, _: Context) -> typed.KernelDef:
    """``n / x`` as ``n / (x != 0 ? x : 1)`` where x may be 0; anything else as it is."""
    nodes = [node for expr in expressions(kernel.body) for node in walk(expr)]
    if not any(map(_divides, nodes)):
        return kernel
    doubtful = _loaded(kernel.body) | {symbol for node in nodes for symbol in _tested(node)}

    def safe(expr: typed.Expr) -> typed.Expr:
        expr = with_children(expr, safe)
        if not _divides(expr) or not _doubtful(expr.right, doubtful):  # type: ignore[union-attr]
            return expr
        assert isinstance(expr, typed.Binary)
        return replace(expr, right=_or_one(expr.right))

    body = map_expressions(kernel.body, safe)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _divides(expr: typed.Expr) -> bool:
    if not isinstance(expr, typed.Binary) or expr.operator not in ("/", "%"):
        return False
    scalar = scalar_of(expr.type)
    return scalar is not None and scalar.is_integer and constant(expr.right) is None


def _doubtful(divisor: typed.Expr, symbols: set[typed.Symbol]) -> bool:
    if names(divisor) & symbols or any(size & (size - 1) for size in shape_of(divisor.type)):
        return True
    return has_memory(divisor)


def _or_one(divisor: typed.Expr) -> typed.Expr:
    """``divisor != 0 ? divisor : 1``"""
    element = element_of(divisor.type)
    zero, unit = (typed.Literal(divisor.span, element, value) for value in (0, 1))
    test = typed.Binary(divisor.span, with_element(BOOL, shape_of(divisor.type)), "!=", divisor, zero)
    return typed.Select(divisor.span, divisor.type, test, divisor, unit)


def _tested(node: typed.Expr) -> frozenset[typed.Symbol]:
    """The variables of what is compared with a constant, or taken for a truth value."""
    match node:
        case typed.Binary(operator=operator, left=left, right=right) if operator in _COMPARISONS:
            if constant(left) is not None or constant(right) is not None:
                return names(left) | names(right)
        case typed.Cast(operand=operand) if scalar_of(node.type) == BOOL:
            return names(operand)
    return frozenset()


def _loaded(body: typed.Body) -> set[typed.Symbol]:
    """The variables that are computed from memory."""
    pairs = assignments(body)
    loaded: set[typed.Symbol] = set()
    while True:
        more = {
            symbol
            for symbol, value in pairs
            if symbol not in loaded and (names(value) & loaded or has_memory(value))
        }
        if not more:
            return loaded
        loaded |= more
