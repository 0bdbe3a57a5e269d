"""Calls of built-in functions -> calls of Triton's.

Input: a call whose arguments the checker converted. Output: the same function in Triton, or the operators that
mean it where Triton's differs: ``min`` and ``max`` of floats and NaN, ``fma`` of integers; ``printf``.
"""

from __future__ import annotations

import json
from typing import Final

from pytriton.emit.context import Context, node_of, shape_node, tensor_of
from pytriton.emit.conversions import as_type, compared, place
from pytriton.emit.memory import INSPECTING, inspecting
from pytriton.emit.operators import alternatives
from pytriton.emit.python import Atom, BinOp, Call, Method, Node, Tuple, UnaryOp
from pytriton.emit.values import Value, promoted
from pytriton.lang.tree import typed
from pytriton.lang.tree.formats import label_of, pieces
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BFLOAT16,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    ScalarType,
    element_of,
    shape_of,
)

__all__ = ["call", "prints"]

_SAME: Final = "exp log sqrt sin cos erf rsqrt sigmoid log2 exp2 floor ceil abs fma maximum minimum".split()
_FUNCTIONS: Final = {
    **{name: f"tl.{name}" for name in _SAME},
    **{"tanh": "libdevice.tanh", "pow": "libdevice.pow", "divide": "libdevice.fast_dividef"},
}
_MAX_EXTENT: Final = Atom("0x7FFFFFFF")  # extent of a tensor descriptor

# f(-0.0) is f(0.0).
_EVEN_AT_ZERO: Final = frozenset(("exp", "exp2", "cos", "abs", "sigmoid"))


def call(expr: typed.Call, context: Context) -> Value:
    """A call of any built-in function, and of those that passes put in."""
    function = expr.function
    if function in ("program_id", "num_programs"):
        return Value(Call(f"tl.{function}", (node_of(expr.arguments[0], context),)), INT)
    if function == "descriptor":
        return _descriptor(expr, context)
    if function == "tile":
        return _tile(expr, context)
    if function == "barrier":
        return Value(Call("tl.debug_barrier", ()), INT)
    if function in INSPECTING:
        return inspecting(expr, context)
    if function == "watched":
        return Value(Call("watched", tuple(node_of(argument, context) for argument in expr.arguments)), INT)
    if function == "next_power_of_2":
        size = node_of(expr.arguments[0], context)
        return Value(Call("triton.next_power_of_2", (size,)), INT, strong=False, weak=True)
    element = element_of(expr.type)
    assert isinstance(element, ScalarType)
    if function in ("min", "max"):
        return _extremum(expr, element, context)
    values = [_argument(function, argument, context) for argument in expr.arguments]
    if function == "cut_from_loads":
        context.helpers.add(function)
        return Value(Call(function, (values[0].node,)), element)
    if function == "fma" and not element.is_float:
        product = BinOp("*", values[0].node, values[1].node)
        return Value(BinOp("+", product, values[2].node), element)
    if function in ("floor", "ceil") and not element.is_float:
        return values[0]
    if function in ("floor", "ceil"):
        return _rounded(function, values[0], element, context)
    if function == "abs" and element == HALF:
        return as_type(Value(Call("tl.abs", (values[0].node,)), HALF), element)
    if _FUNCTIONS[function].startswith("libdevice"):
        context.libdevice = True
        pairs = zip(values, expr.arguments, strict=True)
        values = [_spread(value, argument, expr, context) for value, argument in pairs]
    return Value(Call(_FUNCTIONS[function], tuple(value.node for value in values)), element)


def _descriptor(expr: typed.Call, context: Context) -> Value:
    """A tensor descriptor of a pointer, with the distance of its rows and a shape of tiles."""
    base, stride = (node_of(argument, context) for argument in expr.arguments)
    keywords: tuple[tuple[str, Node], ...] = (
        ("shape", Tuple((_MAX_EXTENT, _MAX_EXTENT))),
        ("strides", Tuple((stride, Atom("1")))),
        ("block_shape", shape_node(shape_of(expr.type), context)),
    )
    element = element_of(expr.type)
    return Value(Call("tl.make_tensor_descriptor", (base,), keywords), element)


def _tile(expr: typed.Call, context: Context) -> Value:
    """The tile of a descriptor with a corner in that row and column."""
    descriptor, *corner = (node_of(argument, context) for argument in expr.arguments)
    element = element_of(expr.type)
    return Value(Method(descriptor, "load", (Tuple(tuple(corner)),)), element)


def _rounded(function: str, value: Value, element: ScalarType, context: Context) -> Value:
    """``floor`` or ``ceil``, which Triton has for float and double, and with subnormal numbers for double."""
    if element not in (FLOAT, BFLOAT16):
        wide = value if element == DOUBLE else as_type(value, FLOAT)
        rounded = Call(_FUNCTIONS[function], (wide.node,))
    else:
        context.helpers.add(f"ieee_{function}")
        rounded = Call(f"ieee_{function}", (as_type(value, FLOAT).node,))
    return as_type(Value(rounded, DOUBLE if element == DOUBLE else FLOAT), element)


def _argument(function: str, argument: Expr, context: Context) -> Value:
    """An argument as a tensor; the sign of a zero does not show in some functions."""
    match argument:
        case typed.Unary(operator="-", operand=operand) if function in _EVEN_AT_ZERO:
            value = tensor_of(operand, context)
            return Value(UnaryOp("-", value.node), value.element)
        case _:
            return tensor_of(argument, context)


def _spread(value: Value, operand: Expr, expr: Expr, context: Context) -> Value:
    """An operand of a library function, which does not broadcast."""
    want = shape_of(expr.type)
    if shape_of(operand.type) == want:
        return value
    node = place(value, shape_of(operand.type), want)
    return Value(Call("tl.broadcast_to", (node, shape_node(want, context))), value.element)


def _extremum(expr: typed.Call, element: ScalarType, context: Context) -> Value:
    """``a < b ? a : b`` on floats, which gives b where either is NaN; Triton's own on integers."""
    left, right = alternatives(expr.arguments[0], expr.arguments[1], element, context)
    if element.is_float:
        first = compared(left, expr.arguments[0], element).node
        second = compared(right, expr.arguments[1], element).node
        compare = BinOp("<" if expr.function == "min" else ">", first, second)
        chosen = Call("tl.where", (compare, left.node, right.node))
    else:
        function = "tl.minimum" if expr.function == "min" else "tl.maximum"
        chosen = Call(function, (left.node, right.node))
    return as_type(Value(chosen, promoted(left, right) or element), element)


# ---------------------------------------------------------------- printf


def prints(call: typed.Call, context: Context) -> list[Node]:
    """The calls that stand for one ``printf``: a ``tl.device_print`` for each value.

    Code for the interpreter calls ``printed`` instead, with the number of the call and its values: that has C's
    formats (runtime/interpret/interpreter.py).
    """
    assert call.printed is not None
    context.prints.append(call.printed)
    values = [node_of(argument, context) for argument in call.arguments]
    if context.on_cpu:
        return [Call("printed", (Atom(str(len(context.prints) - 1)), *values))]
    conversions, after = pieces(call.printed.text)
    if not values:
        return [Call("tl.device_print", (_text(label_of(after, "")),))]
    nodes: list[Node] = []
    for conversion, argument, value in zip(conversions, call.arguments, values, strict=True):
        hexadecimal = (("hex", Atom("True")),) if conversion.letter in "xX" else ()
        label = _text(label_of(conversion.before, argument.span.text))
        nodes.append(Call("tl.device_print", (label, value), hexadecimal))
    return nodes


def _text(label: str) -> Atom:
    return Atom(json.dumps(label))
