"""Whether a store meets an element twice, found by looking at all of its addresses.

Where offsets are no sums (indices by ``/`` and ``%``, as in a permutation), ``adjoint/access.py`` shows nothing.
Yet all integers of a launch are known. So the offset and the mask are computed for every program and every place of
a block, as tensors with an axis for each, and what is stored must differ. What depends on memory, or is larger than
``MAX_PLACES``, is not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Final

import torch

from pytriton.adjoint.forward import Forward
from pytriton.adjoint.graph import Define, Write
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Constexpr,
    Expand,
    Expr,
    Literal,
    Name,
    Permute,
    Range,
    Unary,
)
from pytriton.lang.tree.types import BOOL, INT, PointerType, element_of, shape_of

__all__ = ["stored_once"]

MAX_PLACES: Final = 1 << 24
AXES: Final = 3  # of programs


class _UnknownError(Exception):
    """What only the kernel knows, or what C does not compute so."""


def stored_once(
    forward: Forward, write: Write, values: Mapping[str, int], grid: tuple[int, int, int]
) -> bool:
    """Whether it is shown that no element is stored twice."""
    items = forward.items
    if write not in items or prod(grid) * prod(shape_of(write.pointer.type)) > MAX_PLACES:
        return False  # in a loop or a branch; or too many
    look = _Look(forward, values, grid)
    try:
        offset = look.of(write.pointer)
        mask = torch.tensor(True) if write.mask is None else look.of(write.mask)
    except _UnknownError:
        return False
    shape = (*grid, *shape_of(write.pointer.type))
    if offset.dim() > len(shape) or mask.dim() > len(shape):
        return False
    stored = look.spread(offset, len(shape)).expand(shape)[look.spread(mask, len(shape)).expand(shape).bool()]
    return len(torch.unique(stored)) == len(stored)


class _Look:
    """Values as tensors: an axis for each of the grid, then those of a block."""

    def __init__(self, forward: Forward, values: Mapping[str, int], grid: tuple[int, int, int]) -> None:
        self.values, self.grid, self.parameters = values, grid, forward.kernel.parameters
        self.definitions = {item.symbol: item.value for item in forward.items if isinstance(item, Define)}
        self.known: dict[Expr, torch.Tensor] = {}

    def of(self, expr: Expr) -> torch.Tensor:
        """An integer, a condition, or a pointer as its distance from the parameter."""
        if expr not in self.known:
            value = self._of(expr)
            if element_of(expr.type) == INT and value.numel() and bool((value.abs() >= 1 << 31).any()):  # type: ignore[arg-type]
                raise _UnknownError
            self.known[expr] = value
        return self.known[expr]

    def spread(self, value: torch.Tensor, rank: int) -> torch.Tensor:
        """With axes of size 1 between those of the grid and those of the block."""
        missing = rank - value.dim()
        if value.dim() < AXES:
            return value
        return value.reshape(*value.shape[:AXES], *(1,) * missing, *value.shape[AXES:])

    def _of(self, expr: Expr) -> torch.Tensor:
        match expr:
            case Literal(value=int() as number) | Constexpr(value=int() as number):
                return self._number(int(number))
            case Name(symbol=symbol):
                given = self.definitions.get(symbol)
                if given is not None:
                    return self.of(given)
                if symbol not in self.parameters:  # nor a version of one that a loop or a branch left
                    raise _UnknownError
                if isinstance(symbol.type, PointerType):
                    return self._number(0)
                if symbol.name in self.values:
                    return self._number(self.values[symbol.name])
                raise _UnknownError
            case Call(function="program_id", arguments=(Literal(value=int() as axis),)):
                shape = [self.grid[axis] if at == axis else 1 for at in range(AXES)]
                return torch.arange(self.grid[axis]).reshape(shape)
            case Call(function="num_programs", arguments=(Literal(value=int() as axis),)):
                return self._number(self.grid[axis])
            case Range(start=start):
                (size,) = shape_of(expr.type)
                first = self.of(start)
                return first.reshape(*first.shape, 1) + torch.arange(size)
            case Unary(operator="-", operand=operand):
                return -self.of(operand)
            case Unary(operator="!", operand=operand):
                return self.of(operand) == 0
            case Cast(operand=operand) if _keeps(expr):
                inner = self.of(operand)
                return inner if element_of(expr.type) == BOOL else inner.long()  # type: ignore[arg-type]
            case Broadcast(operand=operand):
                return self.spread(self.of(operand), AXES + len(shape_of(expr.type)))
            case Expand(operand=operand, axes=axes):
                value = self.spread(self.of(operand), AXES + axes.count(False))
                for at, new in enumerate(axes):
                    value = value.unsqueeze(AXES + at) if new else value
                return value
            case Permute(operand=operand, order=order):
                value = self.spread(self.of(operand), AXES + len(order))
                return value.permute(*range(AXES), *(AXES + axis for axis in order))
            case Binary(operator=operator, left=left, right=right):
                return self._binary(operator, left, right)
            case _:
                raise _UnknownError

    def _number(self, value: int) -> torch.Tensor:
        return torch.full((1,) * AXES, value)

    def _binary(self, operator: str, left: Expr, right: Expr) -> torch.Tensor:
        rank = AXES + max(len(shape_of(left.type)), len(shape_of(right.type)))
        first, second = (self.spread(self.of(each), rank) for each in (left, right))
        if operator in ("/", "%") and bool((second == 0).any()):
            raise _UnknownError
        match operator:
            case "+":
                return first + second
            case "-" if not isinstance(element_of(right.type), PointerType):  # type: ignore[arg-type]
                return first - second
            case "*":
                return first * second
            case "/":
                return torch.div(first, second, rounding_mode="trunc")
            case "%":
                return torch.fmod(first, second)
            case "<":
                return first < second
            case "<=":
                return first <= second
            case ">":
                return first > second
            case ">=":
                return first >= second
            case "==":
                return first == second
            case "!=":
                return first != second
            case "&&" | "&" if element_of(left.type) == BOOL:  # type: ignore[arg-type]
                return first.bool() & second.bool()
            case "||" | "|" if element_of(left.type) == BOOL:  # type: ignore[arg-type]
                return first.bool() | second.bool()
            case _:
                raise _UnknownError


def _keeps(expr: Cast) -> bool:
    """Whether a conversion keeps what fits into an int: not of floating values, not of pointers to others."""
    to, of = element_of(expr.type), element_of(expr.operand.type)  # type: ignore[arg-type]
    return to == of or (str(to) in ("int", "long") and str(of) in ("int", "long", "bool", "short", "char"))
