"""Calls of built-in functions (docs/language.md, Built-in functions).

A call always means the built-in, whatever variables are named. Types follow builtins.py; the atomics of all
eras become one ``Atomic`` node, and the values of a ``printf`` get the types that its format names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from typing import Literal as Choice

from pytriton.lang.check.constants import integer_constant
from pytriton.lang.check.context import Context, failed, value_of
from pytriton.lang.check.operators import LOADS, arithmetic, broadcast, conversion, dot, select, under_mask
from pytriton.lang.check.subscripts import permute
from pytriton.lang.check.unknown_names import unknown_function
from pytriton.lang.parse import syntax
from pytriton.lang.tree import types
from pytriton.lang.tree.builtins import ELEMENTWISE, atomic_add_name
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
from pytriton.lang.tree.effects import after, kept
from pytriton.lang.tree.formats import FLOATS, INTEGERS, Conversion, Printed, lost_on_a_gpu, pieces, text_of
from pytriton.lang.tree.typed import Atomic, Binary, Call, Expr, Statement
from pytriton.lang.tree.types import broadcast_shapes, element_of, promote, shape_of, with_element
from pytriton.source import Span

_Check = Callable[[str, syntax.Call, list[Expr], Context], Expr]

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


def call(node: syntax.Call, context: Context) -> Expr:
    """The typed form of a call.

    Errors: TC309 for an unknown function, TC308 for the number or kind of its arguments, TC303, TC304,
    TC311 and TC407 for their types. TC331 warns of what a GPU cannot print (tree/formats.py).
    """
    callee = node.callee
    match callee:
        case syntax.Call(callee=syntax.Name(id="atomic_add")):
            # atomic_add(TYPE, TM, TN)(p, v, m): the inner call only names the function.
            name = "atomic_add"
        case syntax.Name():
            name = callee.id
        case _:
            context.report.error("TC309", "only a built-in function can be called", callee.span)
            return failed(node.span)
    counts: tuple[int, ...]
    check: _Check
    if name == "printf":
        return _printf(node, context)
    if name in ELEMENTWISE:
        counts, check = (ELEMENTWISE[name].arguments,), _elementwise
    elif name in _OTHER_FUNCTIONS:
        counts, check = _OTHER_FUNCTIONS[name]
    elif atomic_add_name(name):
        counts, check = (2, 3), _atomic_add
    else:
        _report_unknown(name, node, context)
        return failed(node.span)
    values = _arguments(node, name, counts, context)
    return failed(node.span) if values is None else check(name, node, values, context)


def _report_unknown(name: str, node: syntax.Call, context: Context) -> None:
    """Report a call of an unknown function, and the errors in its arguments."""
    where = node.callee.span
    if name in context.kernels:
        message = f"'{name}' cannot be called: every function in the source is a kernel"
        help_ = "launch it from Python; a helper is a macro"
        context.report.error("TC309", message, where, ("it is here", context.kernels[name]), help=help_)
        return
    cure = unknown_function(name, context.scope)
    context.report.error(
        "TC309", f"there is no built-in function '{name}'", where, *cure.notes, help=cure.help
    )
    for argument in node.arguments:
        if not isinstance(argument, syntax.TypeName | syntax.Assign):
            value_of(argument, context)


def _arguments(node: syntax.Call, name: str, counts: tuple[int, ...], context: Context) -> list[Expr] | None:
    """The typed arguments, if there are as many as the function takes; None after an error."""
    if len(node.arguments) not in counts:
        wanted = " or ".join(map(str, counts)) + (" argument" if counts == (1,) else " arguments")
        message = f"'{name}' takes {wanted}, not {len(node.arguments)}"
        help_ = f"write '{_FORMS[name]}'" if name in _FORMS else None
        if name in ("min", "max") and len(node.arguments) == 1:
            help_ = f"write 'x[{name}]' to reduce a block; {help_} for the {name}imum of two values"
        context.report.error("TC308", message, node.span, help=help_)
        return None
    values: list[Expr] = []
    for argument in node.arguments:
        if isinstance(argument, syntax.TypeName):
            help_ = "a conversion is '(float)x'"
            context.report.error("TC308", f"'{name}' takes values, not a type", argument.span, help=help_)
            return None
        values.append(value_of(argument, context))
    return None if any(value.type == types.ERROR for value in values) else values


# ---------------------------------------------------------------- elementwise


def _elementwise(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    for value in values:
        if scalar_of(value.type) is None:
            message = f"'{name}' takes numbers, not a value of type {value.type}"
            context.report.error("TC303", message, value.span, help=LOADS)
            return failed(node.span)
    shape: tuple[int, ...] | None = shape_of(values[0].type)
    common = scalar_of(values[0].type)
    joined = values[0]
    for value in values[1:]:
        shape = broadcast(joined, value, node.span, f"the arguments of '{name}'", context)
        if shape is None:
            return failed(node.span)
        common = common_type(joined, value)
        assert common is not None
        if not (is_weak(joined) and is_weak(value)):
            joined = _stand_in(node.span, common, shape)
    assert common is not None and shape is not None
    function = ELEMENTWISE[name]
    element = common if function.rule == "common" else promote(common)
    if function.rule == "real":
        element = types.DOUBLE if common == types.DOUBLE else types.FLOAT
    if function.name in ("min", "max"):
        values = [*alternatives(values[0], values[1], element)]
    values = [value if value.type == element else convert(value, element) for value in values]
    return Call(node.span, with_element(element, shape), function.name, tuple(values))


def _stand_in(span: Span, element: types.ScalarType, shape: tuple[int, ...]) -> Expr:
    """An expression of a type, for finding the common type of several operands."""
    zero = settle(failed(span))
    return Binary(span, with_element(element, shape), "+", zero, zero)


def _select(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    condition, yes, no = values
    return select(as_condition(condition), yes, no, node.span, context)


# ---------------------------------------------------------------- programs and blocks


def _program(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    (argument,) = node.arguments
    assert not isinstance(argument, syntax.TypeName)
    axis = integer_constant(argument, f"the axis of '{name}'", context)
    if axis is None:
        return failed(node.span)
    if axis.value not in (0, 1, 2):
        message = f"the axis of '{name}' is 0, 1 or 2, not {axis.value}"
        context.report.error("TC308", message, argument.span)
        return failed(node.span)
    function = "program_id" if name == "get_program_id" else "num_programs"
    return Call(node.span, types.INT, function, (axis.expr,))


def _trans(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    rank = len(shape_of(values[0].type))
    return permute(values[0], [*range(1, rank), 0], node.span, context)


def _dot(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    product = dot(values[0], values[1], node.span, context)
    if len(values) == 2 or product.type == types.ERROR:
        return product
    shape = broadcast(product, values[2], node.span, "'dot'", context)
    if shape is None:
        return failed(node.span)
    return arithmetic("+", product, values[2], shape, node.span, context)


# ---------------------------------------------------------------- memory


def _barrier(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    return Call(node.span, types.VOID, "barrier", ())


def _atomic_add(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    """``atomic_add`` in every spelling: pointer, value and perhaps a mask."""
    pointer, value = values[:2]
    mask = _mask_value(as_condition(values[2]), context) if len(values) == 3 else None
    return _atomic("add", name, node.span, pointer, value, context, mask=mask)


def _mask_value(mask: Expr, context: Context) -> Expr | None:
    """A scalar mask: none if it always holds; Triton wants a value, not Python's False, if it never does."""
    known = constant(mask)
    if known is None or shape_of(mask.type):
        return mask
    if known:
        return None
    before: list[Statement] = []
    name = kept(mask, "mask", before)
    return after(before, name)


def _exchange(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    pointer, value = values
    return _atomic("xchg", name, node.span, pointer, value, context)


def _compare_and_swap(name: str, node: syntax.Call, values: list[Expr], context: Context) -> Expr:
    pointer, compare, value = values
    return _atomic("cas", name, node.span, pointer, value, context, compare=compare)


def _atomic(
    operation: Choice["add", "cas", "xchg"],
    name: str,
    span: Span,
    pointer: Expr,
    value: Expr,
    context: Context,
    mask: Expr | None = None,
    compare: Expr | None = None,
) -> Expr:
    element = element_of(pointer.type)
    if not isinstance(element, types.PointerType) or not isinstance(element.element, types.ScalarType):
        message = f"'{name}' requires a pointer, not a value of type {pointer.type}"
        help_ = "its first argument is an address, as in 'X + i'"
        return context.refuse("TC311", message, span, help=help_)
    target = element.element
    if operation != "add" and (target.is_float or target.bits < 32):
        help_ = "only 'atomic_add' supports floats; a lock is an int in memory"
        message = f"'{name}' works on int pointers, not on {pointer.type}"
        return context.refuse("TC303", message, span, help=help_)
    if not target.is_float and target.bits < 32:
        help_ = "add to an int in memory"
        return context.refuse("TC303", f"'{name}' does not work on {pointer.type}", span, help=help_)
    if mask is not None:
        mask = as_condition(mask)
        placed = under_mask(pointer, mask, span, context)
        if placed is None:
            return failed(span)
        pointer = placed
    if operation == "cas" and any(size & (size - 1) for size in shape_of(pointer.type)):
        message = f"'{name}' on a block of type {pointer.type}, whose padding Triton could not mask off"
        return context.refuse("TC407", message, span, help="use a block whose size is a power of two")
    type_ = with_element(target, shape_of(pointer.type))
    value = conversion(value, type_, span, "store", context)
    if compare is not None:
        compare = conversion(compare, type_, span, "compare", context)
    if types.ERROR in (value.type, compare.type if compare is not None else None):
        return failed(span)
    return Atomic(span, type_, operation, pointer, compare, value, mask)


# ---------------------------------------------------------------- printf


def _printf(node: syntax.Call, context: Context) -> Expr:
    """The call of ``printf``; after an error, an expression of type ``ERROR``."""
    text = _format_of(node, context)
    if text is None:
        return failed(node.span)
    conversions, _ = pieces(text)
    given = node.arguments[1:]
    if len(conversions) != len(given):
        message = f"the format has {_count(len(conversions), 'conversion')} for {_count(len(given), 'value')}"
        help_ = "each value needs a conversion: '%d' for an integer, '%f' for a floating number; '%%' is '%'"
        return context.refuse("TC308", message, node.span, help=help_)
    values: list[Expr] = []
    for argument, wanted in zip(given, conversions, strict=True):
        value = _printed_value(argument, wanted, context)
        if value is None:
            return failed(node.span)
        values.append(value)
    shape: tuple[int, ...] = ()
    for value in values:
        joined = broadcast_shapes(shape, shape_of(value.type))
        if joined is None:
            message = f"the shapes of the values of 'printf' do not match: {list(shape)} and {value.type}"
            help_ = "axes must be equal or 1; or print them one by one"
            context.report.error("TC304", message, value.span, help=help_)
            return failed(node.span)
        shape = joined
    lost = list(lost_on_a_gpu(text, shape))
    if lost:
        where, help_ = node.arguments[0].span, "on the CPU it prints as in C"
        context.report.warning("TC331", f"on a GPU 'printf' loses {'; '.join(lost)}", where, help=help_)
    return Call(node.span, types.VOID, "printf", tuple(values), Printed(text, shape))


def _count(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'s' * (count != 1)}"


def _format_of(node: syntax.Call, context: Context) -> str | None:
    """The characters of the format; None after an error."""
    first = node.arguments[0] if node.arguments else None
    if not isinstance(first, syntax.String):
        where = node.span if first is None else first.span
        help_ = "write 'printf(\"x %f\", x)'"
        context.report.error("TC308", "'printf' takes a format first, a string", where, help=help_)
        return None
    text = text_of(first.text)
    if text is None:
        help_ = "a backslash is followed by one of abfnrtv0'\"?\\, or by octal or hexadecimal digits"
        context.report.error("TC308", "unknown escape in this format", first.span, help=help_)
    return text


def _printed_value(
    argument: syntax.Expr | syntax.TypeName, conversion: Conversion, context: Context
) -> Expr | None:
    """A value in a type that its conversion prints; None after an error."""
    spelled, letter = conversion.spelled, conversion.letter
    if letter not in INTEGERS + FLOATS + "p" or not letter:
        help_ = "there are %d %i %u %x %X %o %c for integers, %f %e %g for floating numbers, %p for pointers"
        context.report.error("TC308", f"'printf' does not support '{spelled}'", argument.span, help=help_)
        return None
    if isinstance(argument, syntax.TypeName):
        context.report.error("TC308", "'printf' takes values, not a type", argument.span)
        return None
    value = value_of(argument, context)
    if value.type == types.ERROR:
        return None
    value = settle(value)
    element = scalar_of(value.type)
    if element is None:
        fits, wanted = letter == "p", "%p"
        assert isinstance(element_of(value.type), types.PointerType)
    else:
        fits = letter in (INTEGERS if element.is_integer else FLOATS)
        wanted = "%d" if element.is_integer else "%f"
    if not fits:
        message = f"'{spelled}' does not print a value of type {value.type}"
        context.report.error("TC303", message, argument.span, help=f"write '{wanted}', or convert the value")
        return None
    return (
        value if element is None or not element.is_integer else convert(value, _printed_type(element, letter))
    )


def _printed_type(element: types.ScalarType, letter: str) -> types.ScalarType:
    """The type in which an integer is printed: an int at least, with the sign that the conversion names."""
    wide = promote(element)
    if letter == "u":
        return types.ULONG if wide.bits == 64 else types.UINT
    if letter in "di":
        return types.LONG if wide.bits == 64 else types.INT
    return wide


# How many arguments each function takes, and what checks a call with its name and typed arguments.
_OTHER_FUNCTIONS: Final[dict[str, tuple[tuple[int, ...], _Check]]] = {
    "select": ((3,), _select),
    "get_program_id": ((1,), _program),
    "get_num_programs": ((1,), _program),
    "trans": ((1,), _trans),
    "dot": ((2, 3), _dot),
    "__debug_barrier": ((0,), _barrier),
    "atomic_xchg": ((2,), _exchange),
    "atomic_cas": ((3,), _compare_and_swap),
}
