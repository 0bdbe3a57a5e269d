"""Activity and pointer analysis of a graph.

A value is *active* if a floating input reaches it by operations with a derivative: not through comparisons,
integers, ``floor`` or ``ceil``. The *roots* of a pointer are the parameters that it is computed from; None is
memory that holds pointers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeGuard

from pytriton.frozen import record
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.graph import (
    Item,
    Loop,
    Write,
    assigned_in,
    every,
    nodes_of,
    set_in,
)
from pytriton.lang.tree.typed import (
    Binary,
    Bitcast,
    Call,
    Cast,
    Expr,
    Literal,
    Load,
    Name,
    Reduce,
    Select,
    Symbol,
)
from pytriton.lang.tree.types import PointerType, ScalarType, element_of
from pytriton.lang.tree.walk import children

_FLAT = frozenset(("floor", "ceil", "program_id", "num_programs"))


def is_floating(type_: object) -> bool:
    """Whether these are floating numbers."""
    element = element_of(type_)  # type: ignore[arg-type]
    return isinstance(element, ScalarType) and element.is_float


def converts_floats(expr: Expr) -> TypeGuard[Cast]:
    """Whether this is a conversion between floating types."""
    return isinstance(expr, Cast) and is_floating(expr.type) and is_floating(expr.operand.type)


def unrounded(expr: Expr) -> Expr:
    """A value without conversions between floating types: ``float c; c += a @ b`` of double operands."""
    while converts_floats(expr):
        expr = expr.operand
    return expr


@record
class Cancelled:
    """Proof that no output depends on the value of these extremes, which are alike (cancelled.py)."""

    extremes: tuple[Reduce, ...]


class Flow:
    """Of one graph. ``inputs``: the parameters whose gradients are derived; ``cancelled``: extremes through which
    nothing flows.
    """

    def __init__(
        self,
        items: list[Item],
        parameters: Iterable[Symbol],
        inputs: Collection[Symbol],
        cancelled: Iterable[Cancelled] = (),
    ) -> None:
        self._roots: dict[Symbol, frozenset[Symbol | None]] = {}
        for symbol in parameters:
            if isinstance(symbol.type, PointerType):
                self._roots[symbol] = frozenset((symbol,))
        self.inputs = inputs
        self._active: set[Symbol] = set()
        self._cast: set[Symbol] = set()  # pointers
        self._all = list(every(items))
        loops = [item for item in self._all if isinstance(item, Loop) and item.constant]
        constant, self._constant = [*every(loops)], {*set_in(loops)}
        self._varying = [item for item in self._all if item not in constant]
        self._cancelled: set[Expr] = {extreme for proof in cancelled for extreme in proof.extremes}
        before = -1
        while before != (before := len(self._active) + len(self._cast) + sum(map(len, self._roots.values()))):
            for item in self._all:
                for symbol, value in assigned_in(item):
                    self._join(symbol, value)

    def _join(self, symbol: Symbol, value: Expr) -> None:
        if f.is_pointer(symbol):
            self._roots[symbol] = self._roots.get(symbol, frozenset()) | self.roots(value)
            if self.reinterpreted(value):
                self._cast.add(symbol)
        elif symbol not in self._constant and self.active(value):
            self._active.add(symbol)

    def roots(self, pointer: Expr) -> frozenset[Symbol | None]:
        """The parameters that a pointer may come from."""
        match pointer:
            case Name(symbol=symbol):
                return self._roots.get(symbol, frozenset())
            case Load():
                return frozenset((None,))
            case Select(yes=yes, no=no):
                return self.roots(yes) | self.roots(no)
            case Binary(left=left):
                return self.roots(left)
            case Cast(operand=operand) if not f.is_pointer(operand):
                return frozenset((None,))
            case _:
                return frozenset().union(*map(self.roots, children(pointer)))

    def reinterpreted(self, pointer: Expr) -> bool:
        """Whether a pointer was cast to another element type on its way."""
        if isinstance(pointer, Cast | Bitcast):
            return True
        if isinstance(pointer, Name):
            return pointer.symbol in self._cast
        pointers = [part for part in children(pointer) if f.is_pointer(part)]
        return any(map(self.reinterpreted, pointers))

    def active(self, expr: Expr) -> bool:
        """Whether a change of an input can change the value smoothly."""
        if not is_floating(expr.type):
            return False
        match expr:
            case Name(symbol=symbol):
                return symbol in self._active
            case Load(pointer=pointer, other=other):
                if other is not None and self.active(other):
                    return True
                return not self.roots(pointer).isdisjoint(self.inputs)
            case Select(yes=yes, no=no):
                return self.active(yes) or self.active(no)
            case Reduce() if expr in self._cancelled:
                return False
            case Call(function=function) if function in _FLAT:
                return False
            case _:
                return any(map(self.active, children(expr)))

    def loads(self) -> list[Load]:
        """Every load through which a derivative may flow."""
        return nodes_of(self._varying, Load)

    def writes(self) -> list[Write]:
        """Every store and atomic of the kernel."""
        return [item for item in self._all if isinstance(item, Write)]

    def writes_of(self, symbol: Symbol) -> list[Write]:
        """Those into a parameter."""
        return [write for write in self.writes() if symbol in self.roots(write.pointer)]

    def read(self) -> set[Symbol | None]:
        """The parameters through which memory is read; None: others."""
        return {root for load in self.loads() for root in self.roots(load.pointer)}

    def written(self) -> set[Symbol | None]:
        """The parameters through which memory is written; None: others."""
        return {root for write in self.writes() for root in self.roots(write.pointer)}

    def programs(self) -> set[int]:
        """The axes along which the kernel reads its program id."""
        axes: set[int] = set()
        for node in nodes_of(self._all, Call):
            if node.function == "program_id":
                (axis,) = node.arguments
                if isinstance(axis, Literal):
                    axes.add(int(axis.value))
        return axes
