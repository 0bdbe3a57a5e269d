"""One element of a block expression, as C.

Input: an expression without what needs a temporary (blocks.py has replaced it by names), and the C text of its
indices, one for each axis. Output: text of the element. A scalar has no indices. Operands of another shape
broadcast: their indices are the last of those, 0 where their size is 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final

from pytriton.errors import Report
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, integer
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.lang.tree.types import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from pytriton.native import scalars
from pytriton.native.identifiers import Identifiers
from pytriton.native.inline import Inline
from pytriton.native.scalars import ADD, ATOM, MULTIPLY, Text

Indices = Sequence[str]


class Elements:
    """The names of one kernel, and its inline blocks."""

    def __init__(self, names: Identifiers, inline: Mapping[Symbol, Inline], report: Report) -> None:
        self.names = names
        self.inline = inline
        self.report = report
        self.used: set[Symbol] = set()
        self.sites: dict[int, ElementType] = {}  # of checked code: the type of the elements of each access
        self.is_waiting = False  # inside a loop in which a program may wait (waits.py)
        self.reads: list[ElementType] = []  # the types of elements that are read there

    def element(self, expr: Expr, indices: Indices = ()) -> Text:
        """The element of an expression at these indices of its own shape."""
        return _ELEMENT[expr.__class__](self, expr, indices)

    def text(self, expr: Expr, indices: Indices = ()) -> str:
        """The same, as a string."""
        return self.element(expr, indices).text

    def operand(self, expr: Expr, indices: Indices) -> Text:
        """The element of an operand that broadcasts to these indices."""
        return self.element(expr, broadcast(shape_of(expr.type), indices))

    def place(self, symbol: Symbol, indices: Indices) -> str:
        """The variable, or the element of its array."""
        self.used.add(symbol)
        name = self.names[symbol]
        return f"{name}[{flat(shape_of(symbol.type), indices)}]" if shape_of(symbol.type) else name

    def reached(
        self, site: int | None, pointer: Expr, text: str, indices: Indices, how: str = "reached"
    ) -> str:
        """An address that may be used: of checked code one that is inside."""
        if site is None:
            return text
        return f"{how}(checks, {self.site(site, pointer)}, {text}, {flat(shape_of(pointer.type), indices)})"

    def site(self, site: int, pointer: Expr) -> int:
        """The number of an access, once its type is known."""
        pointed = element_of(pointer.type)
        assert isinstance(pointed, PointerType)
        self.sites[site] = pointed.element
        return site

    def noted(self, element: ElementType, address: str, place: str) -> str:
        """An address that is loaded from: inside of a loop that may wait, it is noted."""
        return f"noted(wait, {self.read(element)}, {address}, {place})" if self.is_waiting else address

    def read(self, element: ElementType) -> int:
        """The number of a type among ``reads``."""
        if element not in self.reads:
            self.reads.append(element)
        return self.reads.index(element)

    def refuse(self, what: str, expr: Expr) -> Text:
        """An error: this cannot be printed."""
        self.report.error("TC460", f"{what} cannot be printed as C yet", expr.span)
        return Text("0")


def broadcast(shape: Sequence[int], indices: Indices) -> list[str]:
    """The indices of an operand with that shape."""
    own = indices[len(indices) - len(shape) :]
    return ["0" if size == 1 else index for size, index in zip(shape, own, strict=True)]


def flat(shape: Sequence[int], indices: Indices) -> str:
    """The position in a row-major array."""
    result = ""
    for size, index in zip(shape, indices, strict=True):
        if result and size != 1:
            inner = f"({result})" if " + " in result else result
            result = f"{inner} * {int(size)}"
        if index != "0":
            index = f"({index})" if " " in index else index
            result = f"{result} + {index}" if result else index
    return result or "0"


def count(expr: Expr | Symbol) -> int:
    """How many elements it has."""
    return prod(map(int, shape_of(expr.type)))


def squeezed(have: Sequence[int], indices: Indices, want: Sequence[int]) -> list[str] | None:
    """The indices in a shape that differs in axes of size 1 only."""
    kept = [(size, index) for size, index in zip(have, indices, strict=True) if size != 1]
    if [size for size, _ in kept] != [size for size in want if size != 1]:
        return None
    rest = iter(index for _, index in kept)
    return ["0" if size == 1 else next(rest) for size in want]


# ---------------------------------------------------------------- leaves


def _number(_: Elements, expr: typed.Literal | typed.Constexpr, __: Indices) -> Text:
    return scalars.number(expr.value, element_of(expr.type))


def _name(elements: Elements, expr: typed.Name, indices: Indices) -> Text:
    symbol = expr.symbol
    if symbol.value is not None:
        return scalars.number(symbol.value, element_of(symbol.type))
    inline = elements.inline.get(symbol)
    if inline is None:
        return Text(elements.place(symbol, indices))
    value = elements.operand(inline.value, indices)
    value = scalars.cast(value, element_of(inline.value.type), element_of(symbol.type))
    if inline.offset is not None:
        elements.used.add(inline.offset)
        return Text(f"{value.at(ADD)} + {elements.names[inline.offset]}", ADD)
    return value


def _range(_: Elements, expr: typed.Range, indices: Indices) -> Text:
    first = integer(expr.start)
    if first == 0:
        return Text(indices[0], ATOM if " " not in indices[0] else 0)
    return scalars.binary("+", scalars.number(first, INT), Text(indices[0], ADD), INT)


# ---------------------------------------------------------------- operators


def _unary(elements: Elements, expr: typed.Unary, indices: Indices) -> Text:
    value = elements.element(expr.operand, indices)
    element = element_of(expr.type if expr.operator != "!" else expr.operand.type)
    return scalars.unary(expr.operator, value, element)


def _binary(elements: Elements, expr: typed.Binary, indices: Indices) -> Text:
    left, right = elements.operand(expr.left, indices), elements.operand(expr.right, indices)
    first, second = element_of(expr.left.type), element_of(expr.right.type)
    if isinstance(first, PointerType) and first == second and expr.operator == "-":
        size = f"sizeof({scalars.c_type(first.element).rstrip()})"
        bytes_ = [Text(f"(int64_t){side.at(ATOM)}", MULTIPLY) for side in (left, right)]
        return Text(f"({bytes_[0].text} - {bytes_[1].text}) / (int64_t){size}", MULTIPLY)
    if isinstance(first, PointerType) and isinstance(second, PointerType) and first != second:
        left, right = (Text(f"(char *){side.at(ATOM)}", MULTIPLY) for side in (left, right))
    right_constant = constant(expr.right) if isinstance(second, ScalarType) else None
    return scalars.binary(expr.operator, left, right, first, right_constant)


def _select(elements: Elements, expr: typed.Select, indices: Indices) -> Text:
    operands = [elements.operand(operand, indices) for operand in (expr.condition, expr.yes, expr.no)]
    element = element_of(expr.type)
    if indices and element in (FLOAT, DOUBLE):
        return scalars.call(f"select_{scalars.tag(element)}", *operands)
    return scalars.select(*operands)


def _cast(elements: Elements, expr: typed.Cast, indices: Indices) -> Text:
    value = elements.element(expr.operand, indices)
    return scalars.cast(value, element_of(expr.operand.type), element_of(expr.type))


def _bitcast(elements: Elements, expr: typed.Bitcast, indices: Indices) -> Text:
    value = elements.element(expr.operand, indices)
    return scalars.bitcast(value, element_of(expr.operand.type), element_of(expr.type))


def _call(elements: Elements, expr: typed.Call, indices: Indices) -> Text:
    if expr.function in ("program_id", "num_programs"):
        field = "id" if expr.function == "program_id" else "count"
        return Text(f"grid.{field}[{integer(expr.arguments[0])}]")
    if expr.function == "barrier":
        return Text("__atomic_thread_fence(__ATOMIC_SEQ_CST)")
    element = element_of(expr.type)
    if expr.function == "printf" or not isinstance(element, ScalarType):
        return elements.refuse(expr.function, expr)
    operands = [elements.operand(argument, indices) for argument in expr.arguments]
    return scalars.function(expr.function, operands, element)


# ---------------------------------------------------------------- shapes


def _broadcast(elements: Elements, expr: typed.Broadcast, indices: Indices) -> Text:
    return elements.operand(expr.operand, indices)


def _expand(elements: Elements, expr: typed.Expand, indices: Indices) -> Text:
    old = [index for new, index in zip(expr.axes, indices, strict=True) if not new]
    return elements.element(expr.operand, old)


def _permute(elements: Elements, expr: typed.Permute, indices: Indices) -> Text:
    own = [""] * len(indices)
    for index, axis in zip(indices, expr.order, strict=True):
        own[axis] = index
    return elements.element(expr.operand, own)


def _reshape(elements: Elements, expr: typed.Reshape, indices: Indices) -> Text:
    have, want = shape_of(expr.operand.type), shape_of(expr.type)
    own = squeezed(want, indices, have)
    if own is not None:
        return elements.element(expr.operand, own)
    assert isinstance(expr.operand, typed.Name)  # blocks.py keeps it in a variable
    return Text(f"{elements.place(expr.operand.symbol, ['0'] * len(have))[:-2]}{flat(want, indices)}]")


# ---------------------------------------------------------------- memory


def _load(elements: Elements, expr: typed.Load, indices: Indices) -> Text:
    return loaded(elements, expr, elements.text(expr.pointer, indices), indices)


def loaded(
    elements: Elements,
    expr: typed.Load,
    address: str,
    indices: Indices,
    *,
    masked: bool = True,
    checked: bool = True,
) -> Text:
    """What a load reads at an address. Whether its mask decides; whether the address may be outside."""
    element = element_of(expr.type)
    if checked:
        address = elements.reached(expr.site, expr.pointer, address, indices)
    address = elements.noted(element, address, flat(shape_of(expr.pointer.type), indices))
    value = Text(f"load_{scalars.stored_tag(element)}({address})")
    if isinstance(element, PointerType):
        value = scalars.cast(value, LONG, element)
    if not masked or expr.mask is None:
        return value
    other = _zero(element) if expr.other is None else elements.operand(expr.other, indices)
    return scalars.select(elements.operand(expr.mask, indices), value, other)


def _zero(element: Any) -> Text:
    if isinstance(element, PointerType):
        return scalars.cast(Text("0"), LONG, element)
    return scalars.number(0, element) if not scalars.is_narrow(element) else Text("0")


def _atomic(elements: Elements, expr: typed.Atomic, indices: Indices) -> Text:
    pointed = element_of(expr.pointer.type)
    element = element_of(expr.type)
    assert isinstance(pointed, PointerType)
    if isinstance(element, PointerType):
        return elements.refuse("an atomic on pointers", expr)
    address = elements.element(expr.pointer, indices)
    if expr.site is not None:
        address = Text(elements.reached(expr.site, expr.pointer, address.text, indices, "changed"))
    operands, prefix = [address], "atomic"
    if elements.is_waiting:
        place = flat(shape_of(expr.pointer.type), indices)
        operands, prefix = (
            list(map(Text, ("wait", str(elements.read(element)), address.text, place))),
            "waiting",
        )
    if expr.compare is not None:
        operands.append(elements.operand(expr.compare, indices))
    operands.append(elements.operand(expr.value, indices))
    value = scalars.call(f"{prefix}_{expr.operation}_{scalars.tag(element)}", *operands)
    if expr.mask is None:
        return value
    return scalars.select(elements.operand(expr.mask, indices), value, _zero(element))


def _unprintable(elements: Elements, expr: Expr, _: Indices) -> Text:
    return elements.refuse(f"a {type(expr).__name__}", expr)


_ELEMENT: Final[dict[type, Callable[[Elements, Any, Indices], Text]]] = {
    typed.Literal: _number,
    typed.Constexpr: _number,
    typed.Name: _name,
    typed.Unary: _unary,
    typed.Binary: _binary,
    typed.Select: _select,
    typed.Load: _load,
    typed.Cast: _cast,
    typed.Bitcast: _bitcast,
    typed.Broadcast: _broadcast,
    typed.Reshape: _reshape,
    typed.Expand: _expand,
    typed.Gather: _unprintable,
    typed.Permute: _permute,
    typed.Range: _range,
    typed.Call: _call,
    typed.Atomic: _atomic,
}
