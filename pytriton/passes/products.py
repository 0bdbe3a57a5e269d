"""Matrix products that no tensor core computes -> products and sums of elements.

Triton multiplies blocks of float, double, half, bfloat16 and char; with a batch axis only where the inner size is
16 (char: 32) or more. Any other ``a @ b`` becomes ``(a[:, :, newaxis] * b[newaxis, :, :])[:, +, :]`` in the type
of the result: exact and wrapping for integers, in float for half. Slow, and right on every target.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.convert import convert
from pytriton.lang.operators import has_product
from pytriton.lang.typed import Binary, Dot, Expand, Expr, KernelDef, Reduce
from pytriton.lang.types import BlockType, ScalarType, broadcast_shapes, element_of, shape_of
from pytriton.lang.walk import map_expressions, with_children

__all__ = ["products"]


def products(kernel: KernelDef) -> KernelDef:
    """The kernel with only such products as Triton has."""
    body = map_expressions(kernel.body, _expr)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _expr(expr: Expr) -> Expr:
    expr = with_children(expr, _expr)
    if not isinstance(expr, Dot) or has_product(expr):
        return expr
    element = element_of(expr.type)  # type: ignore[arg-type]
    assert isinstance(element, ScalarType)
    batch = (False,) * (len(shape_of(expr.type)) - 2)
    left = _expanded(convert(expr.left, element), (False, False, True, *batch))
    right = _expanded(convert(expr.right, element), (True, False, False, *batch))
    shape = broadcast_shapes(shape_of(left.type), shape_of(right.type))
    assert shape is not None
    # In the other order Triton 3.6 makes a product of matrices of it again, one without batch axes.
    whole = Binary(expr.span, BlockType(element, shape), "*", right, left)
    return Reduce(expr.span, expr.type, "+", whole, 1)


def _expanded(operand: Expr, axes: tuple[bool, ...]) -> Expand:
    """The operand with new axes of size 1 where ``axes`` says True."""
    sizes = iter(shape_of(operand.type))
    shape = tuple(1 if new else next(sizes) for new in axes)
    element = element_of(operand.type)  # type: ignore[arg-type]
    return Expand(operand.span, BlockType(element, shape), operand, axes)
