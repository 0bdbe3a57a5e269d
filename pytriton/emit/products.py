"""Matrix products -> ``tl.dot``, with what it wants: enough depth, and the batch axis first.

Input: a product that passes/lower/products.py left, so that Triton has it. Half, bfloat16 and char accumulate in
the type of the result; float is exact ("ieee") as it was, unless the user asks for another precision.
"""

from __future__ import annotations

from pytriton.emit.numbers import dtype
from pytriton.emit.python import Atom, BinOp, Call, Node, Tuple
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.limits import min_depth
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import FLOAT, element_of, shape_of

__all__ = ["Products", "numbers"]


def numbers(values: tuple[int, ...]) -> Tuple:
    """Integers as a tuple."""
    return Tuple(tuple(Atom(str(value)) for value in values))


class Products:
    """The part of ``Expressions`` that prints products."""

    helpers: set[str]
    precision: str  # of products of floats

    def tensor(self, expr: Expr) -> Value:
        """The expression as a tensor of its type."""
        raise NotImplementedError

    def size(self, size: int) -> Node:
        """One size, in the names that gave it."""
        raise NotImplementedError

    def dot(self, expr: typed.Dot) -> Value:
        left, right = self.tensor(expr.left).node, self.tensor(expr.right).node
        common = scalar_of(expr.left.type)
        assert common is not None
        element = element_of(expr.type)  # type: ignore[arg-type]
        keywords: tuple[tuple[str, Node], ...] = ()
        if common == FLOAT:
            keywords = (("input_precision", Atom(f'"{self.precision}"')),)
        batch = shape_of(expr.type)[2:]
        if batch:
            operands = tuple(map(self._batch_first, (left, right), (expr.left, expr.right)))
            return Value(self._batch_last(Call("tl.dot", operands, keywords), shape_of(expr.type)), element)
        depth = shape_of(expr.left.type)[1]
        while depth < min_depth(common):
            self.helpers.add("widen")
            left, right = Call("widen_lhs", (left,)), Call("widen_rhs", (right,))
            depth *= 2
        arguments = [left, right]
        if expr.accumulator is not None:
            arguments.append(self.tensor(expr.accumulator).node)
            if element != FLOAT:  # up to Triton 3.8 the accumulator is compared with this
                keywords = (("out_dtype", dtype(element)),)
        return Value(Call("tl.dot", tuple(arguments), keywords), element)

    def _batch_first(self, node: Node, operand: Expr) -> Node:
        """Triton-C's batch axes trail, Triton's one comes first."""
        shape = shape_of(operand.type)
        order = (*range(2, len(shape)), 0, 1)
        node = Call("tl.permute", (node, numbers(order)))
        if len(shape) == 4:
            rows, columns = self.size(shape[0]), self.size(shape[1])
            count = BinOp("*", self.size(shape[2]), self.size(shape[3]))
            node = Call("tl.reshape", (node, Tuple((count, rows, columns))))
        return node

    def _batch_last(self, node: Node, shape: tuple[int, ...]) -> Node:
        if len(shape) == 4:
            sizes = tuple(self.size(shape[axis]) for axis in (2, 3, 0, 1))
            node = Call("tl.reshape", (node, Tuple(sizes)))
        order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))
        return Call("tl.permute", (node, numbers(order)))
