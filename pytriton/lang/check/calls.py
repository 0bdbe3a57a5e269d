"""Subscripts, and calls of built-in functions (docs/language.md, Operators and Built-in functions).

A subscript is read item by item against the axes of its operand: ``:`` keeps one, ``+``, ``max`` and ``min``
reduce the one at their place, ``newaxis`` uses none. ``^k`` items name all axes in a new order.

A call always means the built-in, whatever variables are named. Types follow builtins.py; the atomics of all
eras become one ``Atomic`` node, and the values of a ``printf`` get the types that its format names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeGuard
from typing import Literal as Choice

from pytriton.errors import closest
from pytriton.lang.check.context import CheckContext, failed
from pytriton.lang.check.operators import (
    LOADS,
    arithmetic,
    broadcast,
    conversion,
    dot,
    integer_constant,
    select,
    shapes_note,
    under_mask,
)
from pytriton.lang.check.words import unknown_function
from pytriton.lang.parse import syntax
from pytriton.lang.recording import is_power_of_2
from pytriton.lang.tokens import characters
from pytriton.lang.tree import types
from pytriton.lang.tree.builtins import (
    ELEMENTWISE,
    FLOATS,
    INTEGERS,
    Conversion,
    Printed,
    atomic_add_name,
    lost_on_a_gpu,
    pieces,
)
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
from pytriton.lang.tree.typed import Atomic, Binary, Call, Expand, Expr, Permute, Reduce, Statement
from pytriton.lang.tree.types import (
    BlockType,
    PointerType,
    broadcast_shapes,
    element_of,
    promote,
    shape_of,
    with_element,
)
from pytriton.source import Span

_Operator = Choice["+", "max", "min"]
_OTHER_ITEMS: Final = {
    "None": "write 'newaxis'",
    "sum": "write '+'",
    **dict.fromkeys(["mean", "avg"], "write 'x[+] / TM'"),
    **dict.fromkeys(["argmax", "argmin", "prod", "any", "all"], "the reductions are '+', 'max' and 'min'"),
}
_REDUCTIONS: Final[dict[str, _Operator]] = {"+": "+", "max": "max", "min": "min"}
_Values = Sequence[Expr | None]
_Check = Callable[[str, syntax.Call, list[Expr], CheckContext], Expr]

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

# ---------------------------------------------------------------- subscripts


def permutes(item: syntax.Expr | syntax.Marker) -> TypeGuard[syntax.Prefix]:
    """Whether an item names an axis, as in ``x[^1, ^0]``."""
    return isinstance(item, syntax.Prefix) and item.operator == "^"


def subscript(node: syntax.Subscript, operand: Expr, axes: list[Expr], context: CheckContext) -> Expr:
    """The operand under the items of the subscript; ``axes``: those that ``^`` names."""
    if not isinstance(operand.type, BlockType):
        return context.refuse(
            "TC310",
            f"a value of type {operand.type} has no axes to subscript",
            node.span,
            help="write '*(p + i)' to load one element"
            if isinstance(operand.type, PointerType)
            else "a scalar is one number already; remove the subscript",
        )
    if axes:
        return _permutation(node, operand, axes, context)
    new_axes: list[bool] = []  # for each axis of the result
    reductions: list[tuple[int, _Operator]] = []
    axis = 0
    for item in node.items:
        word = _word(item)
        if word == "newaxis":
            new_axes.append(True)
            continue
        if word == ":":
            new_axes.append(False)
        elif word in _REDUCTIONS:
            reductions.append((axis, _REDUCTIONS[word]))
        else:
            _refuse_item(item, word, context)
            return failed(node.span)
        axis += 1
    if axis != len(operand.type.shape):
        used, rank = "1 axis" if axis == 1 else f"{axis} axes", len(operand.type.shape)
        return context.refuse(
            "TC310",
            f"this subscript uses {used}, but a block of type {operand.type} has {rank}",
            node.span,
            *shapes_note(operand),
            help=_with_axes([_word(item) or "" for item in node.items], rank - axis),
        )
    for position, operator in reversed(reductions):
        operand = _reduce(operand, operator, position, node.span, context)
    return _expand(operand, tuple(new_axes), node.span) if any(new_axes) else operand


def _with_axes(words: list[str], missing: int) -> str:
    """The subscript with so many more axes that stay, or fewer where too many are named."""
    for _ in range(-missing):
        if ":" not in words:
            return "name each axis once: ':' keeps it, '+', 'max' or 'min' reduces it"
        words.pop(len(words) - 1 - words[::-1].index(":"))
    words += [":"] * missing
    return f"write 'x[{', '.join(words)}]', one item for each axis; ':' keeps it"


def permute(operand: Expr, order: Sequence[int], span: Span, context: CheckContext) -> Expr:
    """Result axis i is operand axis ``order[i]``."""
    shape = shape_of(operand.type)
    if len(shape) < 2:
        return context.refuse(
            "TC310",
            f"a value of type {operand.type} has no axes to permute",
            span,
            help="it has one axis at most: 'x[:, newaxis]' is a column, 'x[newaxis, :]' a row",
        )
    element = element_of(operand.type)
    type_ = with_element(element, tuple(shape[axis] for axis in order))
    return Permute(span, type_, operand, tuple(order))


def _permutation(node: syntax.Subscript, operand: Expr, axes: list[Expr], context: CheckContext) -> Expr:
    order: list[int] = []
    for item in node.items:
        if not permutes(item):
            help_ = "write 'x[^1, ^0]' alone, and ':' or 'newaxis' in another subscript"
            context.report.error("TC310", "'^' must name every axis of the result", item.span, help=help_)
            return failed(node.span)
    for expr in axes:
        axis = integer_constant(expr, "an axis", context)
        if axis is None:
            return failed(node.span)
        order.append(axis)
    rank = len(shape_of(operand.type))
    if sorted(order) != list(range(rank)):
        return context.refuse(
            "TC310",
            f"'^' must name each of the axes 0 to {rank - 1} once, found {order}",
            node.span,
            help=f"as in x[{', '.join(f'^{axis}' for axis in reversed(range(rank)))}]",
        )
    return permute(operand, order, node.span, context)


def _reduce(operand: Expr, operator: _Operator, axis: int, span: Span, context: CheckContext) -> Expr:
    scalar = scalar_of(operand.type)
    if operand.type == types.ERROR:
        return operand
    if scalar is None:
        return context.refuse("TC310", f"cannot reduce a block of type {operand.type}", span, help=LOADS)
    operand = convert(settle(operand), promote(scalar))
    shape = shape_of(operand.type)
    type_ = with_element(promote(scalar), shape[:axis] + shape[axis + 1 :])
    return Reduce(span, type_, operator, operand, axis)


def _refuse_item(item: syntax.Expr | syntax.Marker, word: str | None, context: CheckContext) -> None:
    if word == "-":
        context.report.error(
            "TC404",
            "'x[-]' never had a defined order",
            item.span,
            help="write '-(x[+])', or '(-x)[+]'",
        )
    elif isinstance(item, syntax.Name) and word in _OTHER_ITEMS:
        context.report.error("TC310", f"'{word}' is not valid here", item.span, help=_OTHER_ITEMS[word])
    elif isinstance(item, syntax.Name) and context.scope.find(item.id) is None:
        context.report.error(
            "TC301",
            f"'{item.id}' is not declared",
            item.span,
            help=f"did you mean '{near}'?"
            if (near := closest(item.id, ("newaxis", "max", "min")))
            else f"give it in defines, as in defines={{'{item.id}': ':, newaxis'}}",
        )
    else:
        context.report.error(
            "TC310",
            "a subscript holds ':', 'newaxis', '+', 'max', 'min' or '^axis'",
            item.span,
            help="a block has no elements to pick; '*(p + i)' loads one from memory",
        )


def _word(item: syntax.Expr | syntax.Marker) -> str | None:
    if isinstance(item, syntax.Marker):
        return item.text
    return item.id if isinstance(item, syntax.Name) else None


def _expand(operand: Expr, axes: tuple[bool, ...], span: Span) -> Expr:
    sizes = iter(shape_of(operand.type))
    shape = tuple(1 if new else next(sizes) for new in axes)
    element = element_of(operand.type)
    return Expand(span, with_element(element, shape), operand, axes)


# ---------------------------------------------------------------- calls


def called(node: syntax.Call, context: CheckContext) -> str | None:
    """The name of the function that a call means; None if there is none, which is an error (TC309)."""
    match node.callee:
        case syntax.Call(callee=syntax.Name(id="atomic_add")):
            # atomic_add(TYPE, TM, TN)(p, v, m): the inner call only names the function.
            return "atomic_add"
        case syntax.Name(id=name):
            if name == "printf" or name in ELEMENTWISE or name in _OTHER_FUNCTIONS or atomic_add_name(name):
                return name
            _report_unknown(name, node.callee.span, context)
        case callee:
            context.report.error("TC309", "only a built-in function can be called", callee.span)
    return None


def call(name: str, node: syntax.Call, given: _Values, context: CheckContext) -> Expr:
    """The typed form of a call; of ``given``, a type and the format of ``printf`` are None.

    Errors: TC308 for the number or kind of its arguments, TC303, TC304, TC311 and TC407 for their types. TC331
    warns of what a GPU cannot print (tree/builtins.py).
    """
    if name == "printf":
        return _printf(node, given, context)
    elementwise = ELEMENTWISE.get(name)
    counts, check = _OTHER_FUNCTIONS.get(
        name, ((elementwise.arguments,), _elementwise) if elementwise else ((2, 3), _atomic)
    )
    values = _checked(node, name, given, counts, context)
    return failed(node.span) if values is None else check(name, node, values, context)


def _report_unknown(name: str, where: Span, context: CheckContext) -> None:
    """Report a call of an unknown function."""
    if name in context.kernels:
        message = f"'{name}' cannot be called: every function in the source is a kernel"
        help_ = "launch it from Python; a helper is a macro"
        context.report.error("TC309", message, where, ("it is here", context.kernels[name]), help=help_)
        return
    cure = unknown_function(name, context.scope)
    context.report.error(
        "TC309", f"there is no built-in function '{name}'", where, *cure.notes, help=cure.help
    )


def _checked(
    node: syntax.Call, name: str, given: _Values, counts: tuple[int, ...], context: CheckContext
) -> list[Expr] | None:
    """The arguments, if there are as many as the function takes; None after an error."""
    if len(node.arguments) not in counts:
        wanted = " or ".join(map(str, counts)) + (" argument" if counts == (1,) else " arguments")
        message = f"'{name}' takes {wanted}, not {len(node.arguments)}"
        help_ = f"write '{_FORMS[name]}'" if name in _FORMS else None
        if name in ("min", "max") and len(node.arguments) == 1:
            help_ = f"write 'x[{name}]' to reduce a block; {help_} for the {name}imum of two values"
        context.report.error("TC308", message, node.span, help=help_)
        return None
    values: list[Expr] = []
    for argument, value in zip(node.arguments, given, strict=True):
        if value is None:
            help_ = "a conversion is '(float)x'"
            context.report.error("TC308", f"'{name}' takes values, not a type", argument.span, help=help_)
            return None
        values.append(value)
    return None if any(value.type == types.ERROR for value in values) else values


# ---------------------------------------------------------------- elementwise


def _elementwise(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
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


def _select(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    condition, yes, no = values
    return select(as_condition(condition), yes, no, node.span, context)


# ---------------------------------------------------------------- programs and blocks


def _program(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    axis = integer_constant(values[0], f"the axis of '{name}'", context)
    if axis is None:
        return failed(node.span)
    if axis not in (0, 1, 2):
        return context.refuse("TC308", f"the axis of '{name}' is 0, 1 or 2, not {axis}", values[0].span)
    function = "program_id" if name == "get_program_id" else "num_programs"
    return Call(node.span, types.INT, function, (values[0],))


def _trans(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    rank = len(shape_of(values[0].type))
    return permute(values[0], [*range(1, rank), 0], node.span, context)


def _dot(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    product = dot(values[0], values[1], node.span, context)
    if len(values) == 2 or product.type == types.ERROR:
        return product
    shape = broadcast(product, values[2], node.span, "'dot'", context)
    if shape is None:
        return failed(node.span)
    return arithmetic("+", product, values[2], shape, node.span, context)


# ---------------------------------------------------------------- memory


def _barrier(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    return Call(node.span, types.VOID, "barrier", ())


def _mask_value(mask: Expr) -> Expr | None:
    """A scalar mask: none if it always holds; Triton wants a value, not Python's False, if it never does."""
    value = constant(mask)
    if value is None or shape_of(mask.type):
        return mask
    if value:
        return None
    before: list[Statement] = []
    name = kept(mask, "mask", before)
    return after(before, name)


_ATOMICS: Final[dict[str, Choice["cas", "xchg"]]] = {"atomic_cas": "cas", "atomic_xchg": "xchg"}


def _atomic(name: str, node: syntax.Call, values: list[Expr], context: CheckContext) -> Expr:
    """An atomic of a pointer: ``add`` in every spelling takes a value, perhaps a mask; ``cas`` two values."""
    span, (pointer, value) = node.span, values[:2]
    operation: Choice["add", "cas", "xchg"] = _ATOMICS.get(name, "add")
    compare = mask = None
    if operation == "cas":
        compare, value = values[1:]
    elif len(values) == 3:
        mask = _mask_value(as_condition(values[2]))
        if scalar_of(value.type) == types.BOOL and scalar_of(values[2].type) not in (None, types.BOOL):
            message = f"'{name}' adds a bool under a mask of type {values[2].type}"
            help_ = "the mask is last: write 'atomic_add(p, value, mask)'"
            context.report.warning("TC334", message, span, help=help_)
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
        placed = under_mask(pointer, mask, span, context)
        if placed is None:
            return failed(span)
        pointer = placed
    if operation == "cas" and not all(map(is_power_of_2, shape_of(pointer.type))):
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


def _printf(node: syntax.Call, arguments: _Values, context: CheckContext) -> Expr:
    """The call of ``printf``; after an error, an expression of type ``ERROR``."""
    text = _format_of(node, context)
    if text is None:
        return failed(node.span)
    conversions, _ = pieces(text)
    given = arguments[1:]
    if len(conversions) != len(given):
        message = f"the format has {_count(len(conversions), 'conversion')} for {_count(len(given), 'value')}"
        help_ = "each value needs a conversion: '%d' for an integer, '%f' for a floating number; '%%' is '%'"
        return context.refuse("TC308", message, node.span, help=help_)
    values: list[Expr] = []
    for argument, given_value, wanted in zip(node.arguments[1:], given, conversions, strict=True):
        value = _printed_value(argument.span, given_value, wanted, context)
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


def _format_of(node: syntax.Call, context: CheckContext) -> str | None:
    """The characters of the format; None after an error."""
    first = node.arguments[0] if node.arguments else None
    if not isinstance(first, syntax.String):
        where = node.span if first is None else first.span
        help_ = "write 'printf(\"x %f\", x)'"
        context.report.error("TC308", "'printf' takes a format first, a string", where, help=help_)
        return None
    codes = characters(first.text)
    if codes is None:
        help_ = "a backslash is followed by one of abfnrtv0'\"?\\, or by octal or hexadecimal digits"
        context.report.error("TC308", "unknown escape in this format", first.span, help=help_)
        return None
    return "".join(map(chr, codes))


def _printed_value(
    span: Span, value: Expr | None, conversion: Conversion, context: CheckContext
) -> Expr | None:
    """A value in a type that its conversion prints; None after an error."""
    spelled, letter = conversion.spelled, conversion.letter
    if letter not in INTEGERS + FLOATS + "p" or not letter:
        help_ = "there are %d %i %u %x %X %o %c for integers, %f %e %g for floating numbers, %p for pointers"
        context.report.error("TC308", f"'printf' does not support '{spelled}'", span, help=help_)
        return None
    if value is None:
        context.report.error("TC308", "'printf' takes values, not a type", span)
        return None
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
        context.report.error("TC303", message, span, help=f"write '{wanted}', or convert the value")
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
    "atomic_xchg": ((2,), _atomic),
    "atomic_cas": ((3,), _atomic),
}
