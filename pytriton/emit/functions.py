"""Calls of built-in functions -> calls of Triton's.

Input: a call whose arguments the checker converted. Output: the same function in Triton, or the operators that
mean it where Triton's differs: ``min`` and ``max`` of floats and NaN, ``fma`` of integers.
"""

from __future__ import annotations

from typing import Final

from pytriton.emit.python import Atom, BinOp, Call, Method, Node, Tuple, UnaryOp
from pytriton.emit.values import Value, promoted
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    ElementType,
    ScalarType,
    element_of,
    shape_of,
)

__all__ = ["Functions"]

_FUNCTIONS: Final = {
    "exp": "tl.exp",
    "log": "tl.log",
    "sqrt": "tl.sqrt",
    "sin": "tl.sin",
    "cos": "tl.cos",
    "erf": "tl.erf",
    "rsqrt": "tl.rsqrt",
    "sigmoid": "tl.sigmoid",
    "log2": "tl.log2",
    "exp2": "tl.exp2",
    "floor": "tl.floor",
    "ceil": "tl.ceil",
    "abs": "tl.abs",
    "fma": "tl.fma",
    "tanh": "libdevice.tanh",
    "pow": "libdevice.pow",
}


_LARGEST: Final = Atom("0x7FFFFFFF")  # extent of a tensor descriptor

# f(-0.0) is f(0.0).
_EVEN_AT_ZERO: Final = frozenset(("exp", "exp2", "cos", "abs", "sigmoid"))


class Functions:
    """The part of ``Expressions`` that prints calls."""

    libdevice: bool  # whether the module must import it
    helpers: set[str]  # of templates/helpers.py.j2, that the module needs

    def lower(self, expr: Expr) -> Value:
        """The expression in Python."""
        raise NotImplementedError

    def node(self, expr: Expr) -> Node:
        """The expression in Python, where only its text matters."""
        raise NotImplementedError

    def tensor(self, expr: Expr) -> Value:
        """The expression as a tensor of its type."""
        raise NotImplementedError

    def shape(self, sizes: tuple[int, ...]) -> Node:
        """A shape as a tuple of the expressions that gave its sizes."""
        raise NotImplementedError

    def place(self, value: Value, have: tuple[int, ...], want: tuple[int, ...]) -> Node:
        """A block with leading axes added up to the rank of ``want``."""
        raise NotImplementedError

    def alternatives(self, left: Expr, right: Expr, element: ScalarType) -> tuple[Value, Value]:
        """Two operands of which one is taken."""
        raise NotImplementedError

    def compared(self, value: Value, expr: Expr, common: ScalarType) -> Value:
        """An operand of a comparison."""
        raise NotImplementedError

    def to(self, value: Value, element: ElementType) -> Value:
        """The value converted to an element type."""
        raise NotImplementedError

    def call(self, expr: typed.Call) -> Value:
        function = expr.function
        if function in ("program_id", "num_programs"):
            return Value(Call(f"tl.{function}", (self.node(expr.arguments[0]),)), INT)
        if function == "descriptor":
            return self._descriptor(expr)
        if function == "tile":
            return self._tile(expr)
        if function == "barrier":
            return Value(Call("tl.debug_barrier", ()), INT)
        if function == "next_power_of_2":
            size = self.node(expr.arguments[0])
            return Value(Call("triton.next_power_of_2", (size,)), INT, strong=False, weak=True)
        element = element_of(expr.type)  # type: ignore[arg-type]
        assert isinstance(element, ScalarType)
        if function in ("min", "max"):
            return self._extremum(expr, element)
        values = [self._argument(function, argument) for argument in expr.arguments]
        if function == "cut_from_loads":
            self.helpers.add(function)
            return Value(Call(function, (values[0].node,)), element)
        if function == "fma" and not element.is_float:
            product = BinOp("*", values[0].node, values[1].node)
            return Value(BinOp("+", product, values[2].node), element)
        if function in ("floor", "ceil") and not element.is_float:
            return values[0]
        if function in ("floor", "ceil"):
            return self._rounded(function, values[0], element)
        if function == "abs" and element == HALF:
            return self.to(Value(Call("tl.abs", (values[0].node,)), HALF), element)
        if _FUNCTIONS[function].startswith("libdevice"):
            self.libdevice = True
            pairs = zip(values, expr.arguments, strict=True)
            values = [self._spread(value, argument, expr) for value, argument in pairs]
        return Value(Call(_FUNCTIONS[function], tuple(value.node for value in values)), element)

    def _descriptor(self, expr: typed.Call) -> Value:
        """A tensor descriptor of a pointer, with the distance of its rows and a shape of tiles."""
        base, stride = map(self.node, expr.arguments)
        keywords: tuple[tuple[str, Node], ...] = (
            ("shape", Tuple((_LARGEST, _LARGEST))),
            ("strides", Tuple((stride, Atom("1")))),
            ("block_shape", self.shape(shape_of(expr.type))),
        )
        element = element_of(expr.type)  # type: ignore[arg-type]
        return Value(Call("tl.make_tensor_descriptor", (base,), keywords), element)

    def _tile(self, expr: typed.Call) -> Value:
        """The tile of a descriptor with a corner in that row and column."""
        descriptor, *corner = map(self.node, expr.arguments)
        element = element_of(expr.type)  # type: ignore[arg-type]
        return Value(Method(descriptor, "load", (Tuple(tuple(corner)),)), element)

    def _rounded(self, function: str, value: Value, element: ScalarType) -> Value:
        """``floor`` or ``ceil``, which Triton has for float and double, and with subnormal numbers for double."""
        if element not in (FLOAT, BFLOAT16):
            wide = value if element == DOUBLE else self.to(value, FLOAT)
            whole = Call(_FUNCTIONS[function], (wide.node,))
        else:
            self.helpers.add(f"ieee_{function}")
            whole = Call(f"ieee_{function}", (self.to(value, FLOAT).node,))
        return self.to(Value(whole, DOUBLE if element == DOUBLE else FLOAT), element)

    def _argument(self, function: str, argument: Expr) -> Value:
        """An argument as a tensor; the sign of a zero does not show in some functions."""
        match argument:
            case typed.Unary(operator="-", operand=operand) if function in _EVEN_AT_ZERO:
                value = self.tensor(operand)
                return Value(UnaryOp("-", value.node), value.element)
            case _:
                return self.tensor(argument)

    def _spread(self, value: Value, operand: Expr, whole: Expr) -> Value:
        """An operand of a library function, which does not broadcast."""
        want = shape_of(whole.type)
        if shape_of(operand.type) == want:
            return value
        node = self.place(value, shape_of(operand.type), want)
        return Value(Call("tl.broadcast_to", (node, self.shape(want))), value.element)

    def _extremum(self, expr: typed.Call, element: ScalarType) -> Value:
        """``a < b ? a : b`` on floats, which gives b where either is NaN; Triton's own on integers."""
        left, right = self.alternatives(expr.arguments[0], expr.arguments[1], element)
        if element.is_float:
            first = self.compared(left, expr.arguments[0], element).node
            second = self.compared(right, expr.arguments[1], element).node
            compare = BinOp("<" if expr.function == "min" else ">", first, second)
            call = Call("tl.where", (compare, left.node, right.node))
        else:
            function = "tl.minimum" if expr.function == "min" else "tl.maximum"
            call = Call(function, (left.node, right.node))
        return self.to(Value(call, promoted(left, right) or element), element)
