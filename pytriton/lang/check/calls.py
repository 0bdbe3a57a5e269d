"""Calls of built-in functions (language.md, section 6).

A call always means the built-in, whatever variables are named. Types follow builtins.py; the atomics of all
eras become one ``Atomic`` node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final
from typing import Literal as Choice

from pytriton.lang.check.operators import LOADS, failed
from pytriton.lang.check.subscripts import Subscripts
from pytriton.lang.check.unknown_names import unknown_function
from pytriton.lang.parse import syntax
from pytriton.lang.tree.builtins import ELEMENTWISE, Elementwise, atomic_add_name
from pytriton.lang.tree.convert import (
    alternatives,
    as_condition,
    common_type,
    constant,
    convert,
    is_weak,
    scalar_of,
    settle,
)
from pytriton.lang.tree.typed import Atomic, Binary, Call, Declare, Expr, Name, Statement, Symbol
from pytriton.lang.tree.types import (
    BOOL,
    DOUBLE,
    ERROR,
    FLOAT,
    INT,
    VOID,
    PointerType,
    ScalarType,
    element_of,
    promote,
    shape_of,
    with_element,
)
from pytriton.source import Span

__all__ = ["Calls"]

_FORMS: Final = {
    "get_program_id": "get_program_id(0)",
    "get_num_programs": "get_num_programs(0)",
    "min": "min(a, b)",
    "max": "max(a, b)",
    "pow": "pow(x, y)",
    "fma": "fma(a, b, c)",
    "select": "select(condition, a, b)",
    "dot": "dot(a, b)",
    "trans": "trans(x)",
    "atomic_add": "atomic_add(p, value, mask)",
    "atomic_cas": "atomic_cas(p, old, new)",
    "atomic_xchg": "atomic_xchg(p, value)",
}


class Calls(Subscripts):
    """Checks calls."""

    kernels: Mapping[str, Span]  # those of the text
    before: list[Statement]  # what runs in front of the statement at hand

    def call(self, node: syntax.Call) -> Expr:
        """The typed form of a call."""
        callee = node.callee
        match callee:
            case syntax.Call(callee=syntax.Name(id="atomic_add")):
                # atomic_add(TYPE, TM, TN)(p, v, m): the inner call only names the function.
                return self._atomic("atomic_add", node)
        if not isinstance(callee, syntax.Name):
            self.report.error("TC309", "only a built-in function can be called", callee.span)
            return failed(node.span)
        name = callee.id
        if name in ELEMENTWISE:
            return self._elementwise(ELEMENTWISE[name], name, node)
        if name in _SPECIAL:
            return _SPECIAL[name](self, node)
        if atomic_add_name(name):
            return self._atomic(name, node)
        if name in self.kernels:
            message = f"'{name}' cannot be called: every function of the text is a kernel"
            help_ = "launch it from Python; a helper is a macro"
            self.report.error("TC309", message, callee.span, ("it is here", self.kernels[name]), help=help_)
            return failed(node.span)
        cure = unknown_function(name, self.scope)
        message = f"there is no built-in function '{name}'"
        self.report.error("TC309", message, callee.span, *cure.notes, help=cure.help)
        for argument in node.arguments:
            if not isinstance(argument, syntax.TypeName | syntax.Assign):
                self.value(argument)  # for its own errors
        return failed(node.span)

    def arguments(self, node: syntax.Call, name: str, *counts: int) -> list[Expr] | None:
        """The typed arguments, if there are as many as the function takes."""
        if len(node.arguments) not in counts:
            wanted = " or ".join(map(str, counts)) + (" argument" if counts == (1,) else " arguments")
            message = f"'{name}' takes {wanted}, not {len(node.arguments)}"
            help_ = f"write '{_FORMS[name]}'" if name in _FORMS else None
            self.report.error("TC308", message, node.span, help=help_)
            return None
        values: list[Expr] = []
        for argument in node.arguments:
            if isinstance(argument, syntax.TypeName):
                help_ = "a conversion is '(float)x'"
                self.report.error("TC308", f"'{name}' takes values, not a type", argument.span, help=help_)
                return None
            values.append(self.value(argument))
        return None if any(value.type == ERROR for value in values) else values

    # ---------------------------------------------------------------- elementwise

    def _elementwise(self, function: Elementwise, name: str, node: syntax.Call) -> Expr:
        values = self.arguments(node, name, function.arguments)
        if values is None:
            return failed(node.span)
        for value in values:
            if scalar_of(value.type) is None:
                message = f"'{name}' takes numbers, not a value of type {value.type}"
                self.report.error("TC303", message, value.span, help=LOADS)
                return failed(node.span)
        shape = shape_of(values[0].type)
        common = scalar_of(values[0].type)
        joined = values[0]
        for value in values[1:]:
            found = self.broadcast(joined, value, node.span, f"the arguments of '{name}'")
            if found is None:
                return failed(node.span)
            shape, common = found, common_type(joined, value)
            assert common is not None
            weak = is_weak(joined) and is_weak(value)
            joined = joined if weak else failed_as(node.span, common, shape)
        assert common is not None
        element = common if function.rule == "common" else promote(common)
        if function.rule == "real":
            element = DOUBLE if common == DOUBLE else FLOAT
        if function.name in ("min", "max"):
            values = [*alternatives(values[0], values[1], element)]
        values = [value if value.type == element else convert(value, element) for value in values]
        return Call(node.span, with_element(element, shape), function.name, tuple(values))

    def _select_call(self, node: syntax.Call) -> Expr:
        values = self.arguments(node, "select", 3)
        if values is None:
            return failed(node.span)
        condition, yes, no = values
        return self.select(as_condition(condition), yes, no, node.span)

    # ---------------------------------------------------------------- programs and blocks

    def _program(self, node: syntax.Call) -> Expr:
        assert isinstance(node.callee, syntax.Name)
        name = node.callee.id
        values = self.arguments(node, name, 1)
        if values is None or isinstance(node.arguments[0], syntax.TypeName):
            return failed(node.span)
        axis = self.integer(node.arguments[0], f"the axis of '{name}'")
        if axis is None:
            return failed(node.span)
        if axis[0] not in (0, 1, 2):
            self.report.error(
                "TC308", f"the axis of '{name}' is 0, 1 or 2, not {axis[0]}", node.arguments[0].span
            )
            return failed(node.span)
        function = "program_id" if name == "get_program_id" else "num_programs"
        return Call(node.span, INT, function, (axis[1],))

    def _trans(self, node: syntax.Call) -> Expr:
        values = self.arguments(node, "trans", 1)
        if values is None:
            return failed(node.span)
        rank = len(shape_of(values[0].type))
        return self.permute(values[0], [*range(1, rank), 0], node.span)

    def _dot(self, node: syntax.Call) -> Expr:
        values = self.arguments(node, "dot", 2, 3)
        if values is None:
            return failed(node.span)
        product = self.dot(values[0], values[1], node.span)
        if len(values) == 2 or product.type == ERROR:
            return product
        shape = self.broadcast(product, values[2], node.span, "'dot'")
        if shape is None:
            return failed(node.span)
        return self.arithmetic("+", product, values[2], shape, node.span)

    # ---------------------------------------------------------------- memory

    def _barrier(self, node: syntax.Call) -> Expr:
        if self.arguments(node, "__debug_barrier", 0) is None:
            return failed(node.span)
        return Call(node.span, VOID, "barrier", ())

    def _atomic(self, name: str, node: syntax.Call) -> Expr:
        """``atomic_add`` in every spelling: pointer, value and perhaps a mask."""
        values = self.arguments(node, name, 2, 3)
        if values is None:
            return failed(node.span)
        pointer, value = values[:2]
        mask = self._not_constant(as_condition(values[2])) if len(values) == 3 else None
        return self._on_memory("add", name, node.span, pointer, value, mask)

    def _not_constant(self, mask: Expr) -> Expr | None:
        """A scalar mask: none if it always holds; Triton wants a value, not Python's False, if it never does."""
        known = constant(mask)
        if known is None or shape_of(mask.type):
            return mask
        if known:
            return None
        symbol = Symbol("mask", BOOL, mask.span)
        self.before.append(Declare(mask.span, symbol, mask))
        return Name(mask.span, BOOL, symbol)

    def _exchange(self, node: syntax.Call) -> Expr:
        values = self.arguments(node, "atomic_xchg", 2)
        if values is None:
            return failed(node.span)
        return self._on_memory("xchg", "atomic_xchg", node.span, *values)

    def _compare_and_swap(self, node: syntax.Call) -> Expr:
        values = self.arguments(node, "atomic_cas", 3)
        if values is None:
            return failed(node.span)
        pointer, compare, value = values
        return self._on_memory("cas", "atomic_cas", node.span, pointer, value, compare=compare)

    def _on_memory(
        self,
        operation: Choice["add", "cas", "xchg"],
        name: str,
        span: Span,
        pointer: Expr,
        value: Expr,
        mask: Expr | None = None,
        compare: Expr | None = None,
    ) -> Expr:
        element = element_of(pointer.type)  # type: ignore[arg-type]
        if not isinstance(element, PointerType) or not isinstance(element.element, ScalarType):
            message = f"'{name}' wants a pointer, not a value of type {pointer.type}"
            help_ = "its first argument is where in memory it works, as in 'X + i'"
            self.report.error("TC311", message, span, help=help_)
            return failed(span)
        target = element.element
        if operation != "add" and (target.is_float or target.bits < 32):
            help_ = "only 'atomic_add' works on floats; a lock is an int in memory"
            message = f"'{name}' works on int pointers, not on {pointer.type}"
            self.report.error("TC303", message, span, help=help_)
            return failed(span)
        if not target.is_float and target.bits < 32:
            help_ = "add to an int in memory"
            self.report.error("TC303", f"'{name}' does not work on {pointer.type}", span, help=help_)
            return failed(span)
        if mask is not None:
            mask = as_condition(mask)
            placed = self.under_mask(pointer, mask, span)
            if placed is None:
                return failed(span)
            pointer = placed
        if operation == "cas" and any(size & (size - 1) for size in shape_of(pointer.type)):
            message = f"'{name}' on a block of type {pointer.type}, whose padding Triton could not mask off"
            self.report.error("TC407", message, span, help="use a block whose size is a power of two")
            return failed(span)
        type_ = with_element(target, shape_of(pointer.type))
        value = self.conversion(value, type_, span, "store")
        if compare is not None:
            compare = self.conversion(compare, type_, span, "compare")
        if ERROR in (value.type, compare.type if compare is not None else None):
            return failed(span)
        return Atomic(span, type_, operation, pointer, value, compare, mask)


def failed_as(span: Span, element: ScalarType, shape: tuple[int, ...]) -> Expr:
    """A stand-in of a type, for finding the common type of several operands."""
    zero = settle(failed(span))
    return Binary(span, with_element(element, shape), "+", zero, zero)


_SPECIAL: Final[dict[str, Callable[[Calls, syntax.Call], Expr]]] = {
    "select": Calls._select_call,
    "get_program_id": Calls._program,
    "get_num_programs": Calls._program,
    "trans": Calls._trans,
    "dot": Calls._dot,
    "__debug_barrier": Calls._barrier,
    "atomic_xchg": Calls._exchange,
    "atomic_cas": Calls._compare_and_swap,
}
