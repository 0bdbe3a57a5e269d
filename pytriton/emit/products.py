"""Matrix products -> ``tl.dot``, with what it wants: enough depth, and the batch axis first.

Input: a product that passes/lower/products.py left, so that Triton has it. Half, bfloat16 and char accumulate in
the type of the result; float is exact ("ieee") as it was, unless the user asks for another precision.
"""

from __future__ import annotations

from pytriton.emit.context import Context, size_node, tensor_of
from pytriton.emit.numbers import dtype
from pytriton.emit.python import Atom, BinOp, Call, Node, Tuple
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.limits import min_depth
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import FLOAT, element_of, shape_of

__all__ = ["dot", "numbers"]


def numbers(values: tuple[int, ...]) -> Tuple:
    """Integers as a tuple."""
    return Tuple(tuple(Atom(str(value)) for value in values))


def dot(expr: typed.Dot, context: Context) -> Value:
    """``a @ b``, with an accumulator if a pass gave it one."""
    left, right = tensor_of(expr.left, context).node, tensor_of(expr.right, context).node
    common = scalar_of(expr.left.type)
    assert common is not None
    element = element_of(expr.type)
    keywords: tuple[tuple[str, Node], ...] = ()
    if common == FLOAT:
        keywords = (("input_precision", Atom(f'"{context.precision}"')),)
    batch = shape_of(expr.type)[2:]
    if batch:
        operands = (_batch_first(left, expr.left, context), _batch_first(right, expr.right, context))
        return Value(_batch_last(Call("tl.dot", operands, keywords), shape_of(expr.type), context), element)
    depth = shape_of(expr.left.type)[1]
    while depth < min_depth(common):
        context.helpers.add("widen")
        left, right = Call("widen_lhs", (left,)), Call("widen_rhs", (right,))
        depth *= 2
    arguments = [left, right]
    if expr.accumulator is not None:
        arguments.append(tensor_of(expr.accumulator, context).node)
        # Triton 3.8: the accumulator is compared with this.
        if element != FLOAT:
            keywords = (("out_dtype", dtype(element)),)
    return Value(Call("tl.dot", tuple(arguments), keywords), element)


def _batch_first(node: Node, operand: Expr, context: Context) -> Node:
    """Triton-C's batch axes trail, Triton's one comes first."""
    shape = shape_of(operand.type)
    order = (*range(2, len(shape)), 0, 1)
    node = Call("tl.permute", (node, numbers(order)))
    if len(shape) == 4:
        rows, columns = size_node(shape[0], context), size_node(shape[1], context)
        count = BinOp("*", size_node(shape[2], context), size_node(shape[3], context))
        node = Call("tl.reshape", (node, Tuple((count, rows, columns))))
    return node


def _batch_last(node: Node, shape: tuple[int, ...], context: Context) -> Node:
    if len(shape) == 4:
        sizes = tuple(size_node(shape[axis], context) for axis in (2, 3, 0, 1))
        node = Call("tl.reshape", (node, Tuple(sizes)))
    order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))
    return Call("tl.permute", (node, numbers(order)))
