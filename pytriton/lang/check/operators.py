"""What the operators mean: typed operands -> typed expression (docs/language.md, Operators).

Input: operands that are checked. Output: the operator applied, with C's conversions made explicit and the
shapes broadcast; or, after an error, an expression of type ``ERROR``. Nothing here looks at syntax. Where a size,
a bound or another constant is wrong, the message names the defines that made it so, with their values.
"""

from __future__ import annotations

import math
from typing import Final

from pytriton.frozen import replace
from pytriton.lang.check.context import CheckContext, ValueType, failed
from pytriton.lang.recording import compare, pinned
from pytriton.lang.tree import typed, types
from pytriton.lang.tree.convert import (
    COMPARISONS,
    MAX_BLOCK_ELEMENTS,
    TRUTHS,
    alternatives,
    as_condition,
    common_type,
    constant,
    convert,
    has_product,
    integer,
    is_weak,
    met,
    padded,
    scalar_of,
    settle,
    to_shape,
    wrap,
)
from pytriton.lang.tree.effects import after, has_effect, kept
from pytriton.lang.tree.typed import Expr, Statement
from pytriton.lang.tree.types import broadcast_shapes, element_of, promote, shape_of, with_element
from pytriton.lang.tree.walk import walk
from pytriton.source import Span

LOADS: Final = "'*p' loads what a pointer points to"
_INTEGER_ONLY = frozenset(("%", "<<", ">>", "&", "|", "^"))
_PARTIAL = frozenset(("/", "%", "<<", ">>"))  # without a value for some integers


# ---------------------------------------------------------------- arithmetic


def arithmetic(
    operator: str, left: Expr, right: Expr, shape: tuple[int, ...], span: Span, context: CheckContext
) -> Expr:
    """An arithmetic, bitwise, shift or comparison operator on numbers."""
    common = common_type(left, right)
    assert common is not None
    if operator in ("<<", ">>"):
        first = scalar_of(left.type)
        assert first is not None
        common = common if common.is_float else promote(first)
    if common.is_float and operator in _INTEGER_ONLY:
        return context.refuse(
            "TC303",
            f"'{operator}' works on integers, not on {left.type} and {right.type}",
            span,
            help="'x - y * floor(x / y)' is the remainder of floats; '(int)x' converts them to integers"
            if operator == "%"
            else "'pow(x, y)' is a power; 'bitcast<int>(x)' gives the bits of a float"
            if operator == "^"
            else "'(int)x' converts a float to an integer, 'bitcast<int>(x)' gives its bits",
        )
    weak = common.is_float and operator in ("+", "-", "*", "/") and is_weak(left) and is_weak(right)
    if not weak:
        left, right = convert(left, common), convert(right, common)
    wrong = None if common.is_float else _undefined(operator, right, common)
    if wrong is not None:
        dropped = [typed.Evaluate(left.span, left)] if has_effect(left) else []
        return after(dropped, _without_value(wrong, with_element(common, shape), span, right, context))
    comparison = operator in COMPARISONS
    type_ = with_element(types.BOOL if comparison else common, shape)
    if comparison:
        left, right = settle(left), settle(right)
    return typed.Binary(span, type_, operator, left, right)


def _without_value(
    wrong: tuple[str, str],
    type_: types.ElementType | types.BlockType,
    span: Span,
    by: Expr,
    context: CheckContext,
) -> Expr:
    """An operation on a constant for which C has no value: an error if it is certain to be executed, else 0."""
    code, message = wrong
    if not context.unsure:
        return context.refuse(code, f"this {message}", span, *defines_note(by))
    context.report.warning(code, f"if this is executed, it {message}", span, *defines_note(by))
    zero = to_shape(convert(typed.Literal(span, types.INT, 0), element_of(type_)), shape_of(type_))
    assert zero is not None
    return zero


def pointer_arithmetic(
    operator: str, left: Expr, right: Expr, shape: tuple[int, ...], span: Span, context: CheckContext
) -> Expr:
    """``p + i``, ``p - i``, ``p - q`` and comparisons of pointers."""
    first = element_of(left.type)
    second = element_of(right.type)
    if operator == "+" and isinstance(second, types.PointerType) and isinstance(first, types.ScalarType):
        before: list[Statement] = []
        if has_effect(left) or has_effect(right):
            left = kept(left, "index", before)  # it comes first
        moved = pointer_arithmetic(operator, right, left, shape, span, context)
        return after(before, moved)
    offset = second if isinstance(first, types.PointerType) and isinstance(second, types.ScalarType) else None
    if operator in ("+", "-") and offset is not None and offset.is_integer:
        if offset == types.BOOL:
            right = convert(right, types.INT)
        return typed.Binary(span, with_element(first, shape), operator, left, right)
    both = isinstance(first, types.PointerType) and isinstance(second, types.PointerType)
    if both and first == second and operator == "-":
        return typed.Binary(span, with_element(types.LONG, shape), "-", left, right)
    if operator in COMPARISONS and (both or 0 in (constant(left), constant(right))):
        left, right = _address(left), _address(right)
        return typed.Binary(span, with_element(types.BOOL, shape), operator, left, right)
    return context.refuse(
        "TC303",
        f"'{operator}' does not work on {left.type} and {right.type}",
        span,
        help="a pointer moves by an integer, as in 'p + i'; '*p' loads what it points to",
    )


# ---------------------------------------------------------------- blocks


def index_range(left: Expr, right: Expr, span: Span, context: CheckContext) -> Expr:
    """``left ... right``"""
    start, stop = constant(left), constant(right)
    for bound, expr in ((start, left), (stop, right)):
        if not isinstance(bound, int):
            moved = f"add what varies to a range of constants, as in '{left.span.text} + 0 ... 16'"
            help_ = moved if expr is left and isinstance(left, typed.Name) else None
            _report_not_constant(expr, "a bound of '...'", context, help_)
            return failed(span)
    assert isinstance(start, int) and isinstance(stop, int)
    count = stop - start
    if compare(count, "<", 1, enforced=False) or compare(count, ">", MAX_BLOCK_ELEMENTS, enforced=False):
        what = "no elements" if stop <= start else "too many elements"
        alike = (
            isinstance(left, typed.Constexpr)
            and isinstance(right, typed.Constexpr)
            and left.name == right.name
        )
        name = left.name if isinstance(left, typed.Constexpr) and alike else ""
        help_ = f"'...' binds tighter than '*': write 'n * {name} + 0 ... {name}'" if name else None
        report_size(context, "TC306", f"'{start} ... {stop}' has {what}", span, left, right, help=help_)
        return failed(span)
    left, right = as_size(left), as_size(right)
    length = right if start == 0 else typed.Binary(span, types.INT, "-", right, left)
    type_ = types.BlockType(types.INT, (typed.Size(count, length),))
    return typed.Range(span, type_, convert(left, types.INT), convert(right, types.INT))


def dot(left: Expr, right: Expr, span: Span, context: CheckContext) -> Expr:
    """``left @ right``"""
    first, second = shape_of(left.type), shape_of(right.type)
    common = common_type(left, right)
    fits = len(first) == len(second) >= 2 and first[1] == second[0] and first[2:] == second[2:]
    if common is None or not fits:
        return context.refuse(
            "TC313",
            f"'@' requires blocks [M, K] and [K, N], not {left.type} and {right.type}",
            span,
            *shapes_note(left, right),
            help="'^x' transposes a block",
        )
    if scalar_of(left.type) == scalar_of(right.type) == types.CHAR:
        common = (
            types.CHAR
        )  # whose products Triton has; those of other integers are made in their common type
    element = types.FLOAT if common.is_float and common.bits == 16 else promote(common)
    type_ = types.BlockType(element, (first[0], second[1], *first[2:]))
    product = typed.Dot(span, type_, convert(left, common), convert(right, common))
    count = math.prod(map(padded, (*first, second[1])))
    if not has_product(product) and count > MAX_BLOCK_ELEMENTS:
        return context.refuse(
            "TC406",
            f"this product of {left.type} and {right.type} is too large",
            span,
            help="no tensor core computes it, so its M * K * N products of elements must fit into"
            f" {MAX_BLOCK_ELEMENTS}: use smaller blocks, or blocks of half, float, double or char",
        )
    return product


def select(condition: Expr, yes: Expr, no: Expr, span: Span, context: CheckContext) -> Expr:
    """``condition ? yes : no`` of typed operands."""
    if types.ERROR in (condition.type, yes.type, no.type):
        return failed(span)
    shape = broadcast(yes, no, span, "'?:'", context)
    if shape is None:
        return failed(span)
    full_shape = broadcast_shapes(shape, shape_of(condition.type))
    if full_shape is None:
        _refuse_shapes(
            condition.type, with_element(types.INT, shape), span, "'?:'", (condition, yes), context
        )
        return failed(span)
    element: types.ElementType | None = common_type(yes, no)
    if scalar_of(yes.type) == scalar_of(no.type) == types.BOOL:
        element = types.BOOL
    if element is None:
        element = _common_pointer(yes, no)
    if element is None:
        message = f"the branches of '?:' do not match: {yes.type} and {no.type}"
        help_ = f"make them one type, as in '(float*)p'; {LOADS}"
        return context.refuse("TC303", message, span, help=help_)
    type_ = with_element(element, full_shape)
    if not (is_weak(yes) and is_weak(no)):
        folded = _fold_load(condition, yes, no, element, full_shape, span)
        if folded is not None:
            return folded
    yes, no = alternatives(yes, no, element)
    return typed.Select(span, type_, condition, yes, no)


def _common_pointer(yes: Expr, no: Expr) -> types.ElementType | None:
    first = element_of(yes.type)
    second = element_of(no.type)
    if isinstance(first, types.PointerType) and (first == second or constant(no) == 0):
        return first
    return second if isinstance(second, types.PointerType) and constant(yes) == 0 else None


# ---------------------------------------------------------------- conversions and memory


def conversion(
    value: Expr,
    type_: ValueType,
    span: Span,
    action: str,
    context: CheckContext,
    explicit: bool = False,
) -> Expr:
    """The value as that type, elements and shape; ``action`` is for the message.

    An explicit conversion to a scalar type keeps the shape of a block.
    """
    if value.type == types.ERROR:
        return value
    element = element_of(type_)
    have = element_of(value.type)
    null = isinstance(element, types.PointerType) and constant(value) == 0
    if (
        isinstance(element, types.PointerType) != isinstance(have, types.PointerType)
        and element != types.BOOL
    ):
        number = have if isinstance(have, types.ScalarType) else element
        assert isinstance(number, types.ScalarType)
        address = number.is_integer and (number is have or number.bits == 64)
        if not null and not (explicit and address):
            return _refuse_conversion(value, type_, span, action, context)
    elif isinstance(element, types.PointerType) and element != have and not explicit:
        context.report.warning(
            "TC323",
            f"this pointer of type {have} is read as {element}",
            span,
            help=f"write ({element}) to show that it is meant",
        )
    if not explicit and isinstance(value, typed.Load) and action.startswith("initialise"):
        _warn_of_truncation(value, element, have, context)
    if explicit and element == types.FLOAT:
        value = met(value, types.FLOAT)  # a literal, too, is a float from here on
    converted = convert(value, element)
    if explicit and isinstance(converted, typed.Cast) and converted is not value:
        converted = replace(converted, span=span)  # where it is written
    if explicit and not isinstance(type_, types.BlockType):
        return converted
    shaped = to_shape(converted, shape_of(type_))
    if shaped is None:
        return _refuse_conversion(value, type_, span, action, context)
    if explicit and isinstance(shaped, typed.Broadcast) and shaped is not converted:
        shaped = replace(shaped, span=span)
    return shaped


def bitcast(value: Expr, type_: ValueType, span: Span, context: CheckContext) -> Expr:
    """The bits of a value as a type of the same width."""
    value = settle(value)
    element, scalar = element_of(type_), scalar_of(value.type)
    if not isinstance(element, types.ScalarType) or scalar is None or element.bits != scalar.bits:
        return context.refuse(
            "TC314",
            f"bitcast needs types of one width, not {value.type} and {type_}",
            span,
            help="'(float)x' converts a value to any type",
        )
    shape = shape_of(value.type)
    if isinstance(type_, types.BlockType) and type_.shape != shape:
        return _refuse_conversion(value, type_, span, "convert", context)
    return typed.Bitcast(span, with_element(element, shape), value)


def _refuse_conversion(
    value: Expr, type_: types.Type, span: Span, action: str, context: CheckContext
) -> Expr:
    """Report a value that does not convert to a type (TC302)."""
    if action.startswith(("initialise", "assign")):
        message = f"cannot {action} of type {type_} with a value of type {value.type}"
    else:
        to = "to" if action == "convert" else "as"
        message = f"cannot {action} a value of type {value.type} {to} {type_}"
    return context.refuse(
        "TC302", message, span, *shapes_note(type_, value), help=_conversion_help(value, type_, action)
    )


def _warn_of_truncation(
    value: Expr, wanted: types.ElementType, have: types.ElementType, context: CheckContext
) -> None:
    """A variable for integers gets loaded floats: most likely its type is wrong."""
    if not isinstance(wanted, types.ScalarType) or not isinstance(have, types.ScalarType):
        return
    if wanted.is_integer and wanted != types.BOOL and have.is_float:
        message = f"the loaded {have} is cut off to {wanted}"
        context.report.warning(
            "TC333", message, value.span, help=f"write '({wanted})' to show that it is meant"
        )


def load(pointer: Expr, span: Span, context: CheckContext, mask: Expr | None = None) -> Expr:
    """``*pointer``, only where the mask holds."""
    if pointer.type == types.ERROR or (mask is not None and mask.type == types.ERROR):
        return failed(span)
    element = element_of(pointer.type)
    if not isinstance(element, types.PointerType):
        return context.refuse(
            "TC311",
            f"'*' requires a pointer, not a value of type {pointer.type}",
            span,
            help="'*p' loads through a pointer; a power is 'pow(x, y)'",
        )
    if mask is None:
        return typed.Load(span, with_element(element.element, shape_of(pointer.type)), pointer)
    condition = as_condition(mask)
    placed = under_mask(pointer, condition, span, context)
    if placed is None:
        return failed(span)
    type_ = with_element(element.element, shape_of(placed.type))
    other = convert(typed.Literal(span, types.INT, 0), element.element)
    return typed.Load(span, type_, placed, condition, other)


def under_mask(pointer: Expr, mask: Expr, span: Span, context: CheckContext) -> Expr | None:
    """The pointer with the shape that it and its mask have together."""
    shape = broadcast(pointer, mask, span, "a pointer and its mask", context)
    return None if shape is None else to_shape(pointer, shape)


# ---------------------------------------------------------------- shapes


def broadcast(
    left: Expr, right: Expr, span: Span, what: str, context: CheckContext
) -> tuple[int, ...] | None:
    """The common shape of two operands; an error where there is none."""
    shape = broadcast_shapes(shape_of(left.type), shape_of(right.type))
    if shape is None:
        _refuse_shapes(left.type, right.type, span, what, (left, right), context)
    return shape


def _refuse_shapes(
    left: types.Type,
    right: types.Type,
    span: Span,
    what: str,
    parts: tuple[Expr, Expr],
    context: CheckContext,
) -> None:
    context.report.error(
        "TC304",
        f"the shapes of {what} do not match: {left} and {right}",
        span,
        *shapes_note(*parts),
        help="'*' multiplies element by element; the matrix product is 'a @ b'"
        if what == "'*'" and len(shape_of(left)) == 2 and shape_of(left)[1:] == shape_of(right)[:-1]
        else "axes must be equal or 1; x[:, newaxis] adds an axis",
    )


def _undefined(operator: str, right: Expr, type_: types.ScalarType) -> tuple[str, str] | None:
    """Why an integer operation has no value with this constant on its right: a code and a message."""
    value = constant(right) if operator in _PARTIAL else None
    if operator in ("/", "%") and value == 0:
        return "TC322", "divides by zero"
    if operator in ("<<", ">>") and value is not None and not 0 <= value < type_.bits:
        return "TC329", f"shifts {type_} by {value}, a count must be from 0 to {type_.bits - 1}"
    return None


def _conversion_help(value: Expr, type_: types.Type, action: str) -> str | None:
    """What to write where a value does not convert."""
    assert isinstance(type_, ValueType)
    have, wanted = element_of(value.type), element_of(type_)
    if isinstance(have, types.PointerType) and not isinstance(wanted, types.PointerType):
        return LOADS
    if isinstance(wanted, types.PointerType) and not isinstance(have, types.PointerType):
        if isinstance(value, typed.Load):
            return "without the '*' it is the pointer itself"
        if have.is_float:
            return "an address is an integer"
        return f"write '({wanted})x' to read a number as an address"
    if isinstance(value, typed.Binary) and isinstance(value.left, typed.Range):
        sign = value.operator
        return f"'...' binds tighter than '{sign}': write 'a ... (b {sign} c)'"
    if (declared := _declared_shape(value, type_, action)) is not None:
        return declared
    if (axis := _other_axis(value, shape_of(type_))) is not None:
        return f"a reduction removes the axis at its place: write '{axis}'"
    if not shape_of(type_):
        return "x[+], x[max] and x[min] reduce a block to a scalar"
    return "axes must be equal or 1; x[:, newaxis] adds an axis"


def _declared_shape(value: Expr, type_: types.Type, action: str) -> str | None:
    """What to write where a variable that gets a range has no shape, or one element more than the range."""
    if isinstance(value, typed.Range) and math.prod(shape_of(type_)) == math.prod(shape_of(value.type)) + 1:
        start, stop = constant(value.start), constant(value.stop)
        assert isinstance(stop, int)
        return f"the end of a range is not included: write '{start} ... {stop + 1}'"
    ranges = any(isinstance(part, typed.Range) for part in walk(value))
    if shape_of(type_) or not ranges or not action.startswith("initialise"):
        return None
    name, shape = action.split("'")[1], ", ".join(str(size) for size in shape_of(value.type))
    return f"declare a block: write '{type_} {name}[{shape}]'"


def _other_axis(value: Expr, wanted: tuple[int, ...]) -> str | None:
    """The reduction with the wanted shape, where that of another axis was written."""
    if not isinstance(value, typed.Reduce):
        return None
    shape = shape_of(value.operand.type)
    for axis in range(len(shape)):
        if shape[:axis] + shape[axis + 1 :] == wanted:
            items = [":"] * len(shape)
            items[axis] = value.operator
            return f"x[{', '.join(items)}]"
    return None


def _address(expr: Expr) -> Expr:
    """A pointer as a 64-bit number, for comparisons."""
    return convert(expr, types.LONG)


def _fold_load(
    condition: Expr,
    yes: Expr,
    no: Expr,
    element: types.ElementType,
    shape: tuple[int, ...],
    span: Span,
) -> Expr | None:
    """``m ? *p : v`` as one load with ``v`` as its other value, where that is the same.

    It is where the load is all that the branch does, its mask is just this condition, it has the full
    shape, and ``v`` has the loaded type (or is a number that it holds exactly).
    """
    for load, other, mask in ((yes, no, condition), (no, yes, None)):
        if not isinstance(load, typed.Load) or load.mask is None or shape_of(load.type) != shape:
            continue
        if mask is not None and load.mask is not mask:
            continue
        if mask is None and not (
            isinstance(load.mask, typed.Unary)
            and load.mask.operator == "!"
            and load.mask.operand is condition
        ):
            continue
        loaded = element_of(load.type)
        if isinstance(other, typed.Load) or any(isinstance(part, typed.Load) for part in walk(other)):
            continue
        other = convert(other, element)
        if loaded != element:
            value = constant(other)
            narrow = convert(other, loaded)
            if value is None or constant(narrow) != value:
                continue
            if (
                isinstance(value, float)
                and isinstance(constant(narrow), int)
                and str(pinned(value)) == "-0.0"
            ):
                continue  # an integer has no such 0
            other = narrow
        folded = typed.Load(span, load.type, load.pointer, load.mask, other)
        return convert(folded, element)
    return None


# ---------------------------------------------------------------- integer constants


def integer_constant(expr: Expr, what: str, context: CheckContext) -> int | None:
    """The value of an expression that must be an integer constant; ``what`` names it in the message.

    None after an error: TC305, or one in the expression.
    """
    value, scalar = constant(expr), scalar_of(expr.type)
    if isinstance(value, int) and scalar is not None and scalar.is_integer:
        return value
    if expr.type != types.ERROR:
        _report_not_constant(expr, what, context)
    return None


def _report_not_constant(expr: Expr, what: str, context: CheckContext, help_: str | None = None) -> None:
    """Report an expression that is not an integer constant (TC305)."""
    variable = next((part.symbol.name for part in walk(expr) if isinstance(part, typed.Name)), None)
    if variable and help_ is None:
        help_ = f"give '{variable}' in defines instead of as a variable"
    value = constant(expr)
    if isinstance(value, float):
        message = f"{what} must be an integer constant, not {value}"
        if isinstance(expr, typed.Constexpr) and value.is_integer():
            help_ = f"give it without a fraction, as in defines={{'{expr.name}': {int(value)}}}"
        report_size(context, "TC305", message, expr.span, expr, help=help_)
    else:
        context.report.error("TC305", f"{what} must be an integer constant", expr.span, help=help_)


def report_size(
    context: CheckContext, code: str, message: str, span: Span, *exprs: Expr, help: str | None = None
) -> None:
    """Report a wrong size or bound, but only the first one that is the fault of its defines."""
    defines = {name: value for expr in exprs for name, value in _defines(expr).items()}
    if any(blamed <= defines.keys() for blamed in context.blamed):
        return
    if defines:
        context.blamed.append(frozenset(defines))
    context.report.error(code, message, span, *_note(defines), help=help)


def as_size(expr: Expr) -> Expr:
    """An integer constant as a block's size or the bound of a range is printed.

    Triton takes arithmetic on constexprs there, but no conversion, no truth value and no choice: such an expression
    is printed as its number, and so is one of another type than int (``sizeof(float) * 4``).
    """
    if expr.type == types.INT and (
        isinstance(expr, typed.Constexpr) or not any(map(_is_no_size, walk(expr)))
    ):
        return expr
    value = integer(expr)
    return typed.Literal(expr.span, types.INT, wrap(value, types.INT))


def _is_no_size(node: Expr) -> bool:
    """Whether a part of an expression keeps Triton from taking it as a size."""
    match node:
        case typed.Select() | typed.Cast() | typed.Call(function="min" | "max"):
            return True
        case typed.Binary(operator=operator):
            return operator in TRUTHS
        case _:
            return False


# ---------------------------------------------------------------- notes on defines


def defines_note(expr: Expr) -> tuple[str, ...]:
    """The note with the values of the defines in an expression; () where there are none."""
    return _note(_defines(expr))


def shapes_note(*parts: Expr | types.Type) -> tuple[str, ...]:
    """The note with the values of the defines in the shapes of these types; () where there are none."""
    defines: dict[str, int | float] = {}
    for part in parts:
        for size in shape_of(part if isinstance(part, types.Type) else part.type):
            if isinstance(size, typed.Size) and size.expr is not None:
                defines |= _defines(size.expr)
    return _note(defines)


def _defines(expr: Expr) -> dict[str, int | float]:
    """The defines in an expression with their values."""
    return {node.name: node.value for node in walk(expr) if isinstance(node, typed.Constexpr)}


def _note(defines: dict[str, int | float]) -> tuple[str, ...]:
    """``TM = 64 and TN = 32 in defines``; nothing for no defines."""
    spelled = [f"{name} = {value}" for name, value in defines.items()]
    if not spelled:
        return ()
    joined = " and ".join([", ".join(spelled[:-1]), spelled[-1]] if spelled[1:] else spelled)
    return (f"{joined} in defines",)
