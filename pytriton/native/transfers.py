"""Loads and stores of blocks.

Input: prepared operands. Output: lines, a row at a time. Where the offsets of a row are a range plus a number, the
addresses are tested at both ends: if they differ as the indices do, no offset wrapped, and the row is one piece of
memory, which compilers copy in vectors. A mask that holds for the whole row is left out there. All other rows go
element by element; ``scalar_loop`` keeps a compiler from gathering them (gcc 12 gathers under a mask wrongly).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytriton.frozen import record
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.lang.tree.types import INT, LONG, PointerType, element_of, shape_of
from pytriton.lang.tree.walk import children
from pytriton.native import scalars
from pytriton.native.elements import Elements, broadcast, flat, loaded
from pytriton.native.scalars import ADD, ATOM, COMPARE
from pytriton.native.writer import Writer

Indices = Sequence[str]


def stride(expr: Expr, elements: Elements) -> int | None:
    """By how much neighbours in the last axis differ, modulo powers of two of their widths; None if unknown."""
    shape = shape_of(expr.type)
    if not shape or shape[-1] == 1 or isinstance(expr, typed.Literal | typed.Constexpr):
        return 0
    match expr:
        case typed.Range():
            return 1
        case typed.Name(symbol=symbol):
            inline = elements.inline.get(symbol)
            return None if inline is None else stride(inline.value, elements)
        case typed.Broadcast(operand=operand):
            return stride(operand, elements)
        case typed.Expand(operand=operand, axes=axes):
            return 0 if axes[-1] else stride(operand, elements)
        case typed.Unary() | typed.Select() | typed.Binary() | typed.Cast() if not any(
            stride(operand, elements) != 0 for operand in children(expr)
        ):
            return 0
        case typed.Cast(operand=operand) if all(
            isinstance(t := element_of(type_), PointerType) or (t.bits >= 32 and not t.is_float)
            for type_ in (expr.type, operand.type)
        ):  # narrower numbers wrap inside a row, and may end as if they had not
            return stride(operand, elements)
        case typed.Binary(operator="+" | "-" | "*" as operator, left=left, right=right):
            first, second = stride(left, elements), stride(right, elements)
            if first is None or second is None or (first and second):
                return None
            if operator == "*":
                factor = constant(right if first else left)
                return 0 if not (first or second) else (first + second) * int(factor) if factor else None
            return first + second if operator == "+" else first - second
    return None


def whole(mask: Expr, indices: Indices, last: int, elements: Elements) -> str | None:
    """A condition under which a mask holds at all indices of a row, from 0 to ``last``; None if none is known.

    ``indices`` are those of the mask, the last one of any value. A sum that does not wrap is largest at the end.
    """
    if stride(mask, elements) == 0:
        return elements.element(mask, [*indices[:-1], "0"]).at(COMPARE)
    match mask:
        case typed.Name(symbol=symbol) if symbol in elements.inline:
            value = elements.inline[symbol].value
            return whole(value, broadcast(shape_of(value.type), indices), last, elements)
        case typed.Broadcast(operand=operand):
            return whole(operand, broadcast(shape_of(operand.type), indices), last, elements)
        case typed.Expand(operand=operand, axes=axes) if not axes[-1]:
            own = [index for new, index in zip(axes, indices, strict=True) if not new]
            return whole(operand, own, last, elements)
        case typed.Binary(operator="&&", left=left, right=right):
            sides = [
                whole(side, broadcast(shape_of(side.type), indices), last, elements) for side in (left, right)
            ]
            return None if None in sides else " && ".join(map(str, sides))
        case typed.Binary(operator="<" | "<=", left=left, right=right):
            if element_of(left.type) not in (INT, LONG) or stride(right, elements) != 0:
                return None
            if stride(left, elements) != 1:
                return None
            own = broadcast(shape_of(left.type), indices)[:-1]
            first, end = (elements.element(left, [*own, at]).at(ATOM) for at in ("0", str(last)))
            holds = elements.element(mask, [*indices[:-1], str(last)]).at(COMPARE)
            risen = f"{end} >= {first} && " if element_of(left.type) == LONG else ""
            return f"{risen}(int64_t){end} - (int64_t){first} == {last} && {holds}"
    return None


@record
class Access:
    """A load or a store of a block, and how one element is printed.

    ``step`` gets the address of the element, its indices, whether the mask decides, and whether it is checked.
    """

    pointer: Expr
    mask: Expr | None
    site: int | None
    base: str  # what the address of a row is called
    stores: bool
    step: Callable[[str, Indices, bool, bool], str]


def _head(row: Indices, last: int) -> str:
    """The loop over the elements of a row."""
    index = row[-1]
    return f"for (int {index} = 0; {index} <= {last}; {index}++)"


class Transfers:
    """The accesses of one kernel."""

    def __init__(self, elements: Elements, writer: Writer) -> None:
        self.elements = elements
        self.writer = writer

    def load(self, symbol: Symbol, expr: typed.Load) -> None:
        """Fill an array that is declared."""

        def step(address: str, indices: Indices, masked: bool, checked: bool) -> str:
            value = loaded(self.elements, expr, address, indices, masked=masked, checked=checked)
            return f"{self.elements.place(symbol, indices)} = {value.text};"

        self._rows(Access(expr.pointer, expr.mask, expr.site, "from", False, step))

    def store(self, pointer: Expr, value: Expr, mask: Expr | None, site: int | None = None) -> None:
        """Store a block."""
        pointed = element_of(pointer.type)
        assert isinstance(pointed, PointerType)
        element, elements = pointed.element, self.elements
        word = scalars.stored_tag(element)

        def step(address: str, indices: Indices, masked: bool, checked: bool) -> str:
            stored = elements.operand(value, indices)
            if isinstance(element, PointerType):
                stored = scalars.cast(stored, element, LONG)
            text = f"store_{word}({address}, {stored.text});"
            if site is not None and checked:
                place, number = flat(shape_of(pointer.type), indices), elements.site(site, pointer)
                text = f"put_{word}(checks, {number}, {address}, {stored.text}, {place});"
            if not masked or mask is None:
                return text
            return f"if ({elements.operand(mask, indices).text}) {text}"

        self._rows(Access(pointer, mask, site, "to", True, step))

    def _seen(self, access: Access, address: str) -> str:
        """What records the address of a store."""
        if access.site is None or not access.stores:
            return ""
        return f"row_seen(checks, {access.site}, {address});"

    def _rows(self, access: Access) -> None:
        pointer = access.pointer
        shape = shape_of(pointer.type)
        writer, elements = self.writer, self.elements
        last = int(shape[-1]) - 1 if shape else 0
        if last < 1 or stride(pointer, elements) != 1:
            with writer.loops(shape) as indices:
                writer.line(self._element(access, elements.text(pointer, indices), indices))
                if last > 0:
                    writer.line("scalar_loop();")
            return
        axis = len(shape) - 1
        with writer.loops(shape, range(axis)) as outer:
            outer = outer[:-1]
            base = elements.names.fresh(access.base)
            row = [*outer, f"i{axis}"]
            with writer.block(""):
                declared = scalars.declared(element_of(pointer.type), base)
                writer.line(f"{declared} = {elements.text(pointer, [*outer, '0'])};")
                end = elements.element(pointer, [*outer, str(last)]).at(ADD)
                test = f"{end} == {base} + {last}"
                if access.site is not None:
                    number = elements.site(access.site, pointer)
                    test += f" && row_reached(checks, {number}, {base}, {base} + {last})"
                with writer.block(f"if ({test})", "} else {"):
                    self._row(access, base, row, last)
                writer.depth += 1
                element = self._element(access, elements.text(pointer, row), row)
                writer.line(f"{_head(row, last)} {{ {element} scalar_loop(); }}")
                writer.depth -= 1
                writer.line("}")

    def _element(self, access: Access, address: str, indices: Indices) -> str:
        return f"{self._seen(access, address)} {access.step(address, indices, True, True)}".lstrip()

    def _row(self, access: Access, base: str, row: Indices, last: int) -> None:
        """The elements of a row that is one piece of memory."""
        writer, elements, mask = self.writer, self.elements, access.mask
        index, head = row[-1], _head(row, last)
        copied = f"{head} {access.step(f'{base} + {index}', row, False, False)}"
        checked = f"{head} {{ {access.step(f'{base} + {index}', row, True, access.stores)} }}"
        seen = self._seen(access, f"{base} + {last}")
        if seen:
            writer.line(seen)
        row_of = f"(checks, {access.site}, {base}, {last + 1})"
        claimed, owned = (f"row_claimed{row_of}", f"row_owned{row_of};") if seen else ("", "")
        if mask is None:
            if claimed:
                writer.line(f"if ({claimed}) {{ {copied} {owned} }}")
                writer.line(f"else {checked}")
            else:
                writer.line(copied)
            return
        condition = whole(mask, broadcast(shape_of(mask.type), row), last, elements)
        if condition is None:
            writer.line("int all = 1;")
            writer.line(f"{head} all &= {elements.operand(mask, row).at(ADD)};")
        else:
            writer.line(f"const int all = {condition};")
        writer.line(f"if (all{' && ' if claimed else ''}{claimed}) {{ {copied} {owned} }}")
        writer.line(f"else {checked}")
