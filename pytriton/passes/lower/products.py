"""Matrix products that Triton does not support -> products and sums of elements.

Triton multiplies blocks of float, double, half, bfloat16 and char; with a batch axis only where the inner size is
16 (char: 32) or more. Any other ``a @ b`` becomes ``(a[:, :, newaxis] * b[newaxis, :, :])[:, +, :]`` in the type
of the result: exact and wrapping for integers, in float for half. Slow, but correct on every target.

Triton supports products of double, but up to 3.8 refuses one ("fp64 don't support largeK MMA") if an operand
depends on a load of a block of few bits: it follows elementwise operations and views back to loads, also through
addresses, and packs registers for the narrowest. 16 bits or fewer are too narrow, and 32 where the inner size is
widened (emit/expr.py). Such an operand becomes ``cut_from_loads(operand)``: the same numbers through sums,
where Triton stops following.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import convert, has_product, min_depth, padded, scalar_of
from pytriton.lang.tree.types import DOUBLE, BlockType, ScalarType, broadcast_shapes, element_of, shape_of
from pytriton.lang.tree.walk import children, inside, kinds, map_body, map_expressions, with_children
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import Values, multiplies, values_of, with_body

# ---------------------------------------------------------------- accumulate
# ``c + a @ b`` -> one accumulating product.
#
# Tensor cores add to an accumulator for free. The two become one only if the other operand has the type and shape
# of the product; a converted one (a half accumulator that rounds at each step) is not changed.


def accumulate(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``c = c + a @ b`` as ``c = dot(a, b, c)``."""
    body = map_body(kernel.body, _statement)
    return with_body(kernel, body)


def _statement(statement: typed.Statement) -> typed.Statement:
    if typed.Dot in inside(statement).kinds and isinstance(
        statement, typed.Assign | typed.Declare | typed.Store
    ):
        assert statement.value is not None
        value = _accumulated(statement.value)
        return statement if value is statement.value else replace(statement, value=value)
    return statement


def _accumulated(expr: typed.Expr) -> typed.Expr:
    match expr:
        case typed.Cast(operand=operand):
            inner = _accumulated(operand)
            return expr if inner is operand else replace(expr, operand=inner)
        case typed.Binary(operator="+", left=left, right=right):
            for product, other in ((right, left), (left, right)):
                if not isinstance(product, typed.Dot) or product.accumulator is not None:
                    continue
                if len(shape_of(product.type)) > 2:
                    continue  # the accumulator would have to be permuted too
                if other.type == expr.type == product.type and not isinstance(other, typed.Cast):
                    return replace(product, accumulator=_accumulated(other))
    return expr


def products(kernel: typed.KernelDef, _: PassContext) -> typed.KernelDef:
    """``a @ b`` as sums of elements where Triton has no such product; products of double as it accepts them."""
    if not multiplies(kernel.body):
        return kernel
    values = values_of(kernel.body)
    body = map_expressions(
        kernel.body, lambda expr: _changed(expr, values) if typed.Dot in kinds(expr) else expr
    )
    return with_body(kernel, body)


def _changed(expr: typed.Expr, values: Values) -> typed.Expr:
    expr = with_children(expr, lambda child: _changed(child, values))
    if not isinstance(expr, typed.Dot):
        return expr
    if not has_product(expr):
        return _summed(expr)
    return _cut_from_loads(expr, values) if scalar_of(expr.type) == DOUBLE else expr


def _cut_from_loads(product: typed.Dot, values: Values) -> typed.Dot:
    """A product of double that Triton does not refuse because of the loads of its operands."""
    depth = padded(shape_of(product.left.type)[1])
    refused = 32 if depth < min_depth(DOUBLE) else 16

    def operand(expr: typed.Expr) -> typed.Expr:
        narrow = _narrowest_load(expr, values) <= refused
        return typed.Call(expr.span, expr.type, "cut_from_loads", (expr,)) if narrow else expr

    left, right = operand(product.left), operand(product.right)
    if left is product.left and right is product.right:
        return product
    return replace(product, left=left, right=right)


def _narrowest_load(expr: typed.Expr, values: Values) -> int:
    """The bits of an element of the narrowest block that was loaded for a value, or for an address of it.

    ``values``: all assignments of each variable.
    """
    narrowest = 64
    seen: set[typed.Symbol] = set()
    pending = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, typed.Reduce | typed.Dot):
            continue  # Triton does not look through these
        if isinstance(node, typed.Name) and node.symbol not in seen:
            seen.add(node.symbol)
            pending += values.get(node.symbol, ())
        if isinstance(node, typed.Load) and isinstance(node.type, BlockType):
            element = node.type.element
            narrowest = min(narrowest, element.bits if isinstance(element, ScalarType) else 64)
        pending += children(node)
    return narrowest


def _summed(expr: typed.Dot) -> typed.Expr:
    element = element_of(expr.type)
    assert isinstance(element, ScalarType)
    batch = (False,) * (len(shape_of(expr.type)) - 2)
    left = _expanded(convert(expr.left, element), (False, False, True, *batch))
    right = _expanded(convert(expr.right, element), (True, False, False, *batch))
    shape = broadcast_shapes(shape_of(left.type), shape_of(right.type))
    assert shape is not None
    # Triton 3.6: in the other order it becomes a product of matrices again, one without batch axes.
    elements = typed.Binary(expr.span, BlockType(element, shape), "*", right, left)
    return typed.Reduce(expr.span, expr.type, "+", elements, 1)


def _expanded(operand: typed.Expr, axes: tuple[bool, ...]) -> typed.Expand:
    """The operand with new axes of size 1 where ``axes`` says True."""
    sizes = iter(shape_of(operand.type))
    shape = tuple(1 if new else next(sizes) for new in axes)
    element = element_of(operand.type)
    return typed.Expand(operand.span, BlockType(element, shape), operand, axes)
