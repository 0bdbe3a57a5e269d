"""An expression of the old Python in terms of a kernel's parameters.

A launch ``kernel(a, c, M, N, grid=lambda opt: (cdiv(M, opt.TM),))`` tells which expression each parameter
stood for. Where a grid or a define is made of these expressions only, it can be written in the launcher,
whose arguments are the parameters: ``a.shape[0]`` becomes ``M`` if that is what was passed for ``M``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pytriton.emit.python import Atom, BinOp, Call, Method, Node, Tuple, UnaryOp, show
from pytriton.port.read.values import TOO_LONG, Unknown, Usual, node_of

__all__ = ["Passed", "grid_node", "in_parameters", "show"]

_OPERATORS: Final[dict[type[ast.operator], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_FUNCTIONS: Final = frozenset(("triton.cdiv", "triton.next_power_of_2", "min", "max", "int"))
_METHODS: Final = frozenset(("numel", "size", "stride", "dim"))
MAX_AXES: Final = 3

Meta = Callable[[str], Node | None]  # how ``meta['TM']`` is written; None if it cannot be


class _Foreign(Exception):
    """A part of the expression is no parameter."""


class Passed:
    """What a launch passed for each parameter, as the identifiers of the launcher."""

    def __init__(self, arguments: Sequence[Any], identifiers: Sequence[str]) -> None:
        self._names: dict[str, str] = {}
        for value, identifier in zip(arguments, identifiers, strict=False):
            if not isinstance(value, (Unknown, Usual)):
                continue
            if isinstance(value.node, ast.Starred):
                break  # nobody knows how many parameters this is
            self._names.setdefault(ast.dump(value.node), identifier)
            match value.node:
                case ast.Call(func=ast.Attribute(value=tensor, attr="data_ptr")):
                    self._names.setdefault(ast.dump(tensor), identifier)

    def name(self, node: ast.expr) -> str | None:
        """The parameter for which this very expression was passed."""
        if isinstance(node, ast.Name) and node.id == TOO_LONG:
            return None
        return self._names.get(ast.dump(node))


def in_parameters(value: Any, passed: Passed, meta: Meta) -> Node | None:
    """The expression over parameters; None if it has other parts."""
    try:
        return _rewritten(node_of(value), passed, meta)
    except _Foreign:
        return None


def grid_node(grid: Any, passed: Passed, meta: Meta) -> Node | None:
    """A grid as a tuple of 1 to 3 expressions over parameters; None if it cannot be."""
    entries = grid if isinstance(grid, (list, tuple)) else (grid,)
    if grid is None or not 1 <= len(entries) <= MAX_AXES:
        return None
    sizes = [in_parameters(entry, passed, meta) for entry in entries]
    return None if None in sizes else Tuple(tuple(size for size in sizes if size is not None))


def _rewritten(node: ast.expr, passed: Passed, meta: Meta) -> Node:
    name = passed.name(node)
    if name is not None:
        return Atom(name)
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            return Atom(str(value))
        case ast.Subscript(value=ast.Name(id="meta"), slice=ast.Constant(value=str(define))):
            entry = meta(define)
            if entry is None:
                raise _Foreign
            return entry
        case ast.Subscript(
            value=ast.Attribute(value=tensor, attr="shape"), slice=ast.Constant(value=int(axis))
        ):
            return Atom(f"{show(_tensor(tensor, passed))}.shape[{axis}]")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            parts = _rewritten(left, passed, meta), _rewritten(right, passed, meta)
            return BinOp(_OPERATORS[type(op)], *parts)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return UnaryOp("-", _rewritten(operand, passed, meta))
        case ast.Call(func=ast.Name(id="str"), args=[number], keywords=[]):
            return _rewritten(number, passed, meta)  # numbers were given as text, too
        case ast.Call(func=ast.Name(id=function), args=arguments, keywords=[]) if function in _FUNCTIONS:
            return Call(function, tuple(_rewritten(argument, passed, meta) for argument in arguments))
        case ast.Call(func=ast.Attribute(value=tensor, attr=method), args=arguments, keywords=[]) if (
            method in _METHODS
        ):
            given = tuple(_rewritten(argument, passed, meta) for argument in arguments)
            return Method(_tensor(tensor, passed), method, given)
    raise _Foreign


def _tensor(node: ast.expr, passed: Passed) -> Node:
    name = passed.name(node)
    if name is None:
        raise _Foreign
    return Atom(name)


def constant_or_entry(values: Mapping[str, set[Any]], passed_names: frozenset[str]) -> Meta:
    """``meta['TM']`` for what the kernel takes, the number for what is the same at every point."""

    def meta(name: str) -> Node | None:
        if name in passed_names:
            return Atom(f'meta["{name}"]')
        known = values.get(name, set())
        numbers = {int(value) for value in known if str(value).lstrip("-").isdigit()}
        if len(known) == 1 and len(numbers) == 1:
            return Atom(str(numbers.pop()))
        return None

    return meta
