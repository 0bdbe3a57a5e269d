"""Pointers that move, loads and atomics -> Triton's, which widen and convert by rules of their own."""

from __future__ import annotations

from typing import Final

from pytriton.emit.names import Names
from pytriton.emit.numbers import byte_count, dtype, number
from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node, UnaryOp
from pytriton.emit.values import Value
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, wrap
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BOOL,
    DOUBLE,
    INT,
    LONG,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)

__all__ = ["COMPARISONS", "Memory"]

COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!="))


class Memory:
    """The part of ``Expressions`` that prints pointers, loads and atomics."""

    names: Names

    def lower(self, expr: Expr) -> Value:
        """The expression in Python."""
        raise NotImplementedError

    def node(self, expr: Expr) -> Node:
        """The expression in Python, where only its text matters."""
        raise NotImplementedError

    def compared(self, value: Value, expr: Expr, common: ScalarType) -> Value:
        """An operand of a comparison."""
        raise NotImplementedError

    def strong(self, value: Value) -> Value:
        """The value as a tensor of its own type."""
        raise NotImplementedError

    def to(self, value: Value, element: ElementType) -> Value:
        """The value converted to an element type."""
        raise NotImplementedError

    def place(self, value: Value, have: tuple[int, ...], want: tuple[int, ...]) -> Node:
        """A block with leading axes added up to the rank of ``want``; tl.load and tl.store do the rest."""
        if have and len(have) < len(want):
            items = ["None"] * (len(want) - len(have)) + [":"] * len(have)
            return Index(value.node, ", ".join(items))
        return value.node

    def pointer(self, expr: typed.Binary) -> Value:
        first, second = self.lower(expr.left), self.lower(expr.right)
        element = element_of(expr.type)  # type: ignore[arg-type]
        if expr.operator in COMPARISONS:
            return Value(BinOp(expr.operator, first.node, second.node), BOOL)
        if isinstance(second.element, PointerType):
            width = byte_count(second.element.element)
            addresses = [Method(side.node, "to", (Atom("tl.int64"),)) for side in (first, second)]
            distance = BinOp("-", addresses[0], addresses[1])
            return Value(BinOp("//", distance, Atom(str(width))), LONG)
        if expr.operator == "-":
            return self._moved_back(expr, first, second)
        return Value(BinOp("+", first.node, second.node), element)

    def _moved_back(self, expr: typed.Binary, pointer: Value, offset: Value) -> Value:
        """A pointer less an offset: Triton negates in the type of the offset, and widens what comes out."""
        known = None if offset.strong else offset.number
        if known is None:
            wide = isinstance(offset.element, ScalarType) and offset.element.bits == 64
            offset = offset if wide or self._counted(expr.right) else self.to(offset, LONG)
        elif not -(1 << 31) < known < 1 << 31:
            back = number(wrap(-int(known), LONG), LONG)
            named = isinstance(expr.right, typed.Constexpr) and 0 < known < 1 << 63
            back = UnaryOp("-", offset.node) if named else back
            return Value(BinOp("+", pointer.node, back), pointer.element)
        return Value(BinOp("-", pointer.node, offset.node), pointer.element)

    def _counted(self, offset: Expr) -> bool:
        """Whether a signed offset is one of a range, or the variable of a loop: at least 0."""
        while isinstance(offset, typed.Expand | typed.Broadcast):
            offset = offset.operand
        if isinstance(offset, typed.Range):
            return (constant(offset.start) or 0) >= 0
        return isinstance(offset, typed.Name) and offset.symbol in self.names.natural

    def load(self, expr: typed.Load) -> Value:
        pointer = self.lower(expr.pointer)
        element = element_of(expr.type)  # type: ignore[arg-type]
        want = shape_of(expr.pointer.type)
        keywords: list[tuple[str, Node]] = []
        if expr.mask is not None:
            keywords.append(("mask", self.mask(expr.mask, want)))
            if expr.other is not None:
                other = self.lower(expr.other)
                if element == DOUBLE:
                    other = self.compared(other, expr.other, DOUBLE)
                keywords.append(("other", self.place(other, shape_of(expr.other.type), want)))
        call = Call("tl.load", (pointer.node,), tuple(keywords))
        if isinstance(element, PointerType):
            return Value(Method(call, "to", (dtype(element),)), element)
        return Value(call, element)

    def mask(self, mask: Expr, want: tuple[int, ...]) -> Node:
        """A mask with the rank of the pointer."""
        return self.place(self.lower(mask), shape_of(mask.type), want)

    def atomic(self, expr: typed.Atomic) -> Value:
        want = shape_of(expr.pointer.type)
        arguments = [self.node(expr.pointer)]
        if expr.compare is not None:
            compare = self.lower(expr.compare)
            compare = compare if compare.element == INT else self.strong(compare)
            arguments.append(self.place(compare, shape_of(expr.compare.type), want))
        value = self.lower(expr.value)
        if expr.compare is not None and value.element != INT:  # tl.atomic_cas converts nothing
            value = self.strong(value)
        arguments.append(self.place(value, shape_of(expr.value.type), want))
        keywords: tuple[tuple[str, Node], ...] = ()
        if expr.mask is not None:
            mask = self.lower(expr.mask)
            mask = self.strong(mask) if mask.strong else mask  # atomics take no number for a mask
            keywords = (("mask", self.place(mask, shape_of(expr.mask.type), want)),)
        element = element_of(expr.type)  # type: ignore[arg-type]
        return Value(Call(f"tl.atomic_{expr.operation}", tuple(arguments), keywords), element)
