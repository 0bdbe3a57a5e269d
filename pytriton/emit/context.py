"""What every part of the emitter is given, and what it notes for the module.

Expressions are printed by functions that take an expression and the ``Context``. The files stand in one order, and
each imports only from those before it::

    values, numbers, conversions, context, memory, operators, functions, products, expr, stmt, module

Expressions are inside everything, so the function that prints any of them, ``expr.lower_expression``, is a field of
the context, and every part reaches it through ``lower``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pytriton.emit.conversions import as_tensor
from pytriton.emit.names import Names
from pytriton.emit.python import Atom, Node, Tuple
from pytriton.emit.values import Value
from pytriton.lang.tree.formats import Printed
from pytriton.lang.tree.typed import Expr, Size
from pytriton.passes.check.sites import Site

__all__ = ["Context", "lower", "node_of", "shape_node", "size_node", "tensor_of"]


@dataclass(slots=True)
class Context:
    """One kernel's choice of identifiers and options, and what its module needs besides its function."""

    names: Names
    precision: str  # of products of floats
    lower_expression: Callable[[Expr, Context], Value]
    helpers: set[str] = field(default_factory=set)  # of templates/helpers.py.j2
    libdevice: bool = False  # whether the module imports it
    sites: tuple[Site, ...] = ()  # of checked code: its accesses by number
    on_cpu: bool = False  # whether it is for the interpreter
    prints: list[Printed] = field(default_factory=list)  # its calls of printf, by number


def lower(expr: Expr, context: Context) -> Value:
    """An expression in Python, with what Triton makes of it."""
    return context.lower_expression(expr, context)


def node_of(expr: Expr, context: Context) -> Node:
    """An expression in Python, where only its text matters."""
    return context.lower_expression(expr, context).node


def tensor_of(expr: Expr, context: Context) -> Value:
    """An expression as a tensor of its type, even if it is a bare number."""
    return as_tensor(context.lower_expression(expr, context))


def shape_node(sizes: tuple[int, ...], context: Context) -> Node:
    """A shape as a tuple of the expressions that gave its sizes."""
    return Tuple(tuple(size_node(size, context) for size in sizes))


def size_node(size: int, context: Context) -> Node:
    """One size, in the names that gave it."""
    if isinstance(size, Size) and size.expr is not None:
        return node_of(size.expr, context)
    return Atom(int.__repr__(size))
