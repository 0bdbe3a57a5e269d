"""What an inspector does beside computing (passes/check/inspector.py): calls of the helpers in
templates/inspector.py.j2, which share its table.
"""

from __future__ import annotations

from typing import Final

from pytriton.emit.context import Context, node_of, tensor_of
from pytriton.emit.numbers import dtype
from pytriton.emit.python import Atom, BinOp, Call, Method, Node
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import BOOL, LONG, PointerType, element_of

__all__ = ["INSPECTING", "inspecting"]

INSPECTING: Final = frozenset(("bound", "inspected", "looked_up", "narrow"))


def inspecting(expr: typed.Call, context: Context) -> Value:
    """A call of one of them."""
    table: Node = Atom(context.names.table or "")
    if expr.function == "bound":
        place = node_of(expr.arguments[0], context)
        return Value(Call("tl.load", (BinOp("+", table, place),)), LONG)
    nodes = tuple(node_of(argument, context) for argument in expr.arguments)
    if expr.function == "looked_up":
        context.helpers.add("looked_up")
        call = Call("looked_up", nodes)
        element = element_of(expr.type)  # type: ignore[arg-type]
        if isinstance(element, PointerType):
            return Value(Method(call, "to", (dtype(element),)), element)
        return Value(call, element)
    if expr.function == "narrow":
        nodes = tuple(tensor_of(argument, context).node for argument in expr.arguments)
        name, count = "narrow", len(nodes) - 1
    else:
        name, count = "inspected", (len(nodes) - 5) // 2
    context.helpers |= {name, f"{name}_{count}"}
    return Value(Call(f"{name}_{count}", (table, *nodes)), BOOL)
