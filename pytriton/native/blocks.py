"""Temporaries of block expressions: reductions, products, and values that would be computed several times.

Input: an expression. Output: one whose elements elements.py can print, after the lines that compute temporaries.
A sum over the last axis adds element j to lane j % 32 and then the lanes in pairs; over another axis, and in a
product, elements are added in order. Loops run over row-major arrays of known size.
"""

from __future__ import annotations

from pytriton.emit.element_types import byte_count
from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.typed import Expr, Symbol
from pytriton.lang.tree.types import (
    FLOAT,
    BlockType,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
    with_element,
)
from pytriton.lang.tree.walk import children, has_memory, names, walk, with_children
from pytriton.native import scalars
from pytriton.native.elements import Elements, count, flat, squeezed
from pytriton.native.inline import PROGRAM
from pytriton.native.transfers import Transfers
from pytriton.native.writer import Writer


class Blocks:
    """The temporaries of one kernel."""

    def __init__(self, elements: Elements, writer: Writer) -> None:
        self.elements = elements
        self.writer = writer
        self.transfers = Transfers(elements, writer)

    def declare(self, symbol: Symbol, value: str = "") -> None:
        """A declaration; of an array without a value."""
        element, size = element_of(symbol.type), count(symbol)
        text = scalars.declared(element, self.elements.names[symbol])
        if shape_of(symbol.type):
            text += f"[{size}]"
            self.writer.bytes += size * byte_count(element) + 64
        self.writer.line(f"{text} = {value};" if value else f"{text};")

    def fill(self, symbol: Symbol, value: Expr) -> None:
        """Assign each element of a prepared value."""
        if isinstance(value, typed.Load) and shape_of(value.type) == shape_of(symbol.type) != ():
            self.transfers.load(symbol, value)
            return
        with self.writer.loops(shape_of(symbol.type)) as indices:
            text = self.elements.operand(value, indices).text
            self.writer.line(f"{self.elements.place(symbol, indices)} = {text};")

    def set_to(self, symbol: Symbol, value: Expr, *, new: bool = False) -> None:
        """Declare or assign a variable, from any value."""
        if not new and self._accumulated(symbol, value):
            return
        value = self._whole(value)
        if not shape_of(symbol.type):
            text = self.elements.operand(value, ()).text
            if new:
                self.declare(symbol, text)
            else:
                self.writer.line(f"{self.elements.names[symbol]} = {text};")
            return
        if new:
            self.declare(symbol)
        elif not _in_place(value, symbol):
            value = self.keep(value)
        self.fill(symbol, value)

    def keep(self, value: Expr, name: str = "value") -> typed.Name:
        """A variable with a prepared value."""
        type_ = value.type
        assert isinstance(type_, ScalarType | PointerType | BlockType)
        symbol = Symbol(name, type_, value.span)
        if shape_of(type_):
            self.declare(symbol)
            self.fill(symbol, value)
        else:
            self.declare(symbol, self.elements.text(value))
        return typed.Name(value.span, type_, symbol)

    def array(self, value: Expr, element: ElementType, name: str) -> str:
        """The name of an array that holds a prepared block, in elements of that type."""
        is_array = isinstance(value, typed.Name) and value.symbol not in self.elements.inline
        if not is_array or element_of(value.type) != element:
            if element_of(value.type) != element:
                value = typed.Cast(value.span, with_element(element, shape_of(value.type)), value)
            value = self.keep(value, name)
        assert isinstance(value, typed.Name)
        self.elements.used.add(value.symbol)
        return self.elements.names[value.symbol]

    # ---------------------------------------------------------------- preparation

    def _whole(self, expr: Expr) -> Expr:
        """The same, where a load may be all that is left of it."""
        if isinstance(expr, typed.Load):
            return with_children(expr, lambda child: self._operand(child, count(expr), False))
        return self.ready(expr)

    def ready(self, expr: Expr) -> Expr:
        """The expression with names for what needs a temporary."""
        match expr:
            case typed.Reduce():
                return self._reduced(expr)
            case typed.Dot():
                return self.product(expr)
            case typed.Load() if count(expr) > 1:
                return self.keep(self._whole(expr), "loaded")
            case typed.Reshape():
                operand = self.ready(expr.operand)
                have, want = shape_of(operand.type), shape_of(expr.type)
                array = isinstance(operand, typed.Name) and operand.symbol not in self.elements.inline
                if not array and squeezed(have, ["0"] * len(have), want) is None:
                    operand = self.keep(operand)
                return replace(expr, operand=operand)
        size = count(expr)
        atomic = isinstance(expr, typed.Atomic) and size > 1
        return with_children(expr, lambda child: self._operand(child, size, atomic))

    def _operand(self, expr: Expr, size: int, atomic: bool) -> Expr:
        """A prepared operand; in a variable if it would be computed again for several elements, and what a block of
        atomics loads, before the first of them."""
        expr = self.ready(expr)
        kept = (count(expr) < size and is_costly(expr)) or (atomic and has_memory(expr))
        return self.keep(expr) if kept else expr

    def _reduced(self, expr: typed.Reduce) -> Expr:
        operand = self.ready(expr.operand)
        shape, element = shape_of(operand.type), element_of(operand.type)
        assert isinstance(element, ScalarType)
        wide = FLOAT if scalars.is_narrow(element) else element
        rest = tuple(size for axis, size in enumerate(shape) if axis != expr.axis)
        name = {"+": "sum", "max": "largest", "min": "smallest"}[expr.operator]
        symbol = Symbol(name, with_element(wide, rest), expr.span)
        if expr.axis == len(shape) - 1:
            self._along_rows(expr, operand, symbol)
        else:
            self._across_rows(expr, operand, symbol)
        result = typed.Name(expr.span, symbol.type, symbol)
        return result if wide == element else typed.Cast(expr.span, expr.type, result)

    def _along_rows(self, expr: typed.Reduce, operand: Expr, symbol: Symbol) -> None:
        """The last axis: its elements lie side by side."""
        element = element_of(symbol.type)
        shape = shape_of(operand.type)
        array = self.array(operand, element, "row" if len(shape) == 1 else "rows")
        function = {"+": "sum_of", "max": "largest_of", "min": "smallest_of"}[expr.operator]
        function = f"{function}_{scalars.tag(element)}"
        if len(shape) == 1:
            self.declare(symbol, f"{function}({array}, {int(shape[0])})")
            return
        self.declare(symbol)
        with self.writer.loops(shape[:-1]) as indices:
            start = flat(shape, [*indices, "0"])
            row = f"{array} + {start}" if start != "0" else array
            place = self.elements.place(symbol, indices)
            self.writer.line(f"{place} = {function}({row}, {int(shape[-1])});")

    def _across_rows(self, expr: typed.Reduce, operand: Expr, symbol: Symbol) -> None:
        """Another axis, its loop outermost."""
        shape, element = shape_of(operand.type), element_of(symbol.type)
        others = [axis for axis in range(len(shape)) if axis != expr.axis]
        self.declare(symbol)
        step = {"+": "sum", "max": "larger", "min": "smaller"}[expr.operator]
        first = typed.Cast(operand.span, with_element(element, shape), operand)
        if is_costly(operand) and expr.operator != "+":
            operand = self.keep(operand)
        with self.writer.loops(shape_of(symbol.type)) as indices:
            start = "0"
            if expr.operator != "+":
                own = list(indices)
                own.insert(expr.axis, "0")
                start = self.elements.text(replace(first, operand=operand), own)
            self.writer.line(f"{self.elements.place(symbol, indices)} = {start};")
        with self.writer.loops(shape, [expr.axis, *others]) as indices:
            place = self.elements.place(symbol, [indices[axis] for axis in others])
            value = self.elements.element(replace(first, operand=operand), indices)
            self.writer.line(f"{place} = {step}_{scalars.tag(element)}({place}, {value.text});")

    def _accumulated(self, symbol: Symbol, value: Expr) -> bool:
        """``c = c + a @ b`` added in place, where c has the type of the product."""
        match value:
            case typed.Binary(operator="+", left=typed.Name(symbol=left), right=typed.Dot() as product) if (
                left is symbol
                and product.type == symbol.type
                and len(shape_of(symbol.type)) == 2
                and symbol not in names(product)
                and product.accumulator is None
                and not scalars.is_narrow(element_of(symbol.type))
            ):
                self.product(product, symbol)
                return True
        return False

    def product(self, expr: typed.Dot, result: Symbol | None = None) -> Expr:
        """A matrix product; added to ``result``, if that is given."""
        common = scalar_of(expr.left.type)
        element = element_of(expr.type)
        assert common is not None and isinstance(element, ScalarType)
        left, right = self.ready(expr.left), self.ready(expr.right)
        wide = FLOAT if scalars.is_narrow(common) else element if not common.is_float else common
        batch = len(shape_of(expr.type)) - 2
        if batch:
            left, right = (_batch_first(side) for side in (left, right))
        first, second = self.array(left, wide, "left"), self.array(right, wide, "right")
        *outer, rows, depth = shape_of(left.type)
        columns = shape_of(right.type)[-1]
        if result is None:
            result = Symbol("product", with_element(wide, (*outer, rows, columns)), expr.span)
            self.declare(result, "{0}")
        name = self.elements.names[result]
        with self.writer.loops(outer) as indices:
            starts = [
                flat((*outer, a, b), [*indices, "0", "0"])
                for a, b in ((rows, depth), (depth, columns), (rows, columns))
            ]
            places = [
                array if start == "0" else f"{array} + {start}"
                for array, start in zip((first, second, name), starts, strict=True)
            ]
            sizes = ", ".join(str(int(size)) for size in (rows, columns, depth))
            self.writer.line(f"dot_{scalars.tag(wide)}({', '.join(places)}, {sizes});")
        value: Expr = typed.Name(expr.span, result.type, result)
        if batch:
            order = (batch, batch + 1, *range(batch))
            value = typed.Permute(expr.span, with_element(wide, shape_of(expr.type)), value, order)
        value = value if wide == element else typed.Cast(expr.span, expr.type, value)
        if expr.accumulator is not None:
            value = typed.Binary(expr.span, expr.type, "+", self.ready(expr.accumulator), value)
        return value


def _batch_first(operand: Expr) -> typed.Permute:
    """Batch axes trail in Triton-C; in front, each product is one matrix."""
    shape = shape_of(operand.type)
    order = (*range(2, len(shape)), 0, 1)
    type_ = with_element(element_of(operand.type), tuple(shape[axis] for axis in order))
    return typed.Permute(operand.span, type_, operand, order)


def is_costly(expr: Expr) -> bool:
    """Whether computing it twice is worse than keeping it, or is wrong."""
    return any(
        isinstance(node, typed.Load | typed.Atomic)
        or (isinstance(node, typed.Call) and node.function not in PROGRAM)
        or (isinstance(node, typed.Binary) and node.operator in ("/", "%"))
        for node in walk(expr)
    )


def _in_place(value: Expr, symbol: Symbol) -> bool:
    """Whether each element of the value reads at most the same element of the variable."""
    if symbol not in names(value):
        return True
    if isinstance(value, typed.Name):
        return shape_of(value.type) == shape_of(symbol.type)
    if isinstance(value, typed.Permute | typed.Reshape | typed.Expand | typed.Broadcast | typed.Gather):
        return False
    return all(_in_place(child, symbol) for child in children(value)) and shape_of(value.type) == shape_of(
        symbol.type
    )
