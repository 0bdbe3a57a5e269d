"""Typed expressions -> Python expressions with the same meaning in Triton.

Input: a typed expression. Output: a ``Value`` whose element type is exactly the typed one. C's conversions are
explicit in the tree; one is printed only where Triton's own promotion (values.py) would not make it.
Invariant: whatever ``lower`` returns may be used wherever the typed expression may.

An access with a site is printed as the call of a helper (templates/checked.py.j2), with the table of storages and
the number of the site as further arguments. The calls that only an inspector makes (passes/check/inspector.py) are
helpers of templates/inspector.py.j2, which share its table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pytriton.emit.element_types import (
    Value,
    as_tensor,
    as_type,
    bare,
    byte_count,
    compared,
    computed,
    differs,
    dtype,
    exact_bfloat16,
    full,
    held,
    integer_division,
    is_float32,
    is_one,
    negated,
    number,
    place,
    promoted,
    rounded,
    shifts,
    unspelled,
)
from pytriton.emit.names import EmitContext
from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node, Tuple, UnaryOp
from pytriton.frozen import replace
from pytriton.lang.recording import compare, pinned
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import COMPARISONS, constant, integer, min_depth, scalar_of, wrap
from pytriton.lang.tree.typed import Expr, Size
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    HALF,
    INT,
    LONG,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)


def lower(expr: Expr, context: EmitContext) -> Value:
    """The expression in Python."""
    return _LOWER[expr.__class__](expr, context)


def node_of(expr: Expr, context: EmitContext) -> Node:
    """An expression in Python, as a string."""
    return lower(expr, context).node


def tensor_of(expr: Expr, context: EmitContext) -> Value:
    """An expression as a tensor of its type, even if it is a bare number."""
    return as_tensor(lower(expr, context))


def shape_node(sizes: tuple[int, ...], context: EmitContext) -> Node:
    """A shape as a tuple of the expressions that gave its sizes."""
    return Tuple(tuple(size_node(size, context) for size in sizes))


def size_node(size: int, context: EmitContext) -> Node:
    """One size, in the names that gave it."""
    if isinstance(size, Size) and size.expr is not None:
        return node_of(size.expr, context)
    return Atom(str(pinned(size)))


# ---------------------------------------------------------------- leaves


def _literal(expr: typed.Literal, context: EmitContext) -> Value:
    element = scalar_of(expr.type)
    assert element is not None
    return bare(expr.value, element)


def _constexpr(expr: typed.Constexpr, context: EmitContext) -> Value:
    element = scalar_of(expr.type)
    assert element is not None
    value = constant(expr)
    if value is not None and (not context.names.is_constexpr(expr.name) or unspelled(expr.value, element)):
        return bare(value, element)
    name = context.names.constexpr(expr.name, expr.value)
    return Value(Atom(name), element, False, True, expr.value)


def _name(expr: typed.Name, context: EmitContext) -> Value:
    symbol = expr.symbol
    if symbol.value is not None:
        return _literal(typed.Literal(expr.span, expr.type, symbol.value), context)
    element = element_of(symbol.type)
    if context.bare and symbol in context.numbers:
        context.read.add(symbol)
        return replace(context.numbers[symbol], node=Atom(context.names[symbol]), strong=True)
    weak = symbol in context.names.weak
    number = 1 if weak and symbol.parameter else None  # Triton makes constants of ones only
    natural = number is not None or symbol in context.names.natural
    return Value(Atom(context.names[symbol]), element, True, weak, number, natural)


def _range(expr: typed.Range, context: EmitContext) -> Value:
    first = integer(expr.start)
    length = shape_of(expr.type)[0]
    if first >= 0 and compare(length + first, "==", integer(expr.stop), optional=False):
        return Value(Call("tl.arange", (node_of(expr.start, context), node_of(expr.stop, context))), INT)
    # tl.arange starts at 0 or above, and has a power of two of elements
    indices = Call("tl.arange", (Atom("0"), size_node(length, context)))
    if first == 0:
        return Value(indices, INT)
    offset = Atom(str(-first)) if first < 0 else node_of(expr.start, context)
    return Value(BinOp("-" if first < 0 else "+", indices, offset), INT)


def _bitcast(expr: typed.Bitcast, context: EmitContext) -> Value:
    element = element_of(expr.type)
    value = tensor_of(expr.operand, context)
    return Value(Call("tl.cast", (value.node, dtype(element)), (("bitcast", Atom("True")),)), element)


# ---------------------------------------------------------------- shapes


def _broadcast(expr: typed.Broadcast, context: EmitContext) -> Value:
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    have, want = shape_of(expr.operand.type), shape_of(expr.type)
    shape = shape_node(want, context)
    if not have and isinstance(element, ScalarType):
        if constant(expr.operand) == 0 and not unspelled(constant(expr.operand), element):
            return Value(Call("tl.zeros", (shape,), (("dtype", dtype(element)),)), element)
        return Value(full(value.node, element, shape), element)
    return Value(Call("tl.broadcast_to", (place(value, have, want), shape)), element)


def _reshape(expr: typed.Reshape, context: EmitContext) -> Value:
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    want = shape_of(expr.type)
    if want:
        return Value(Call("tl.reshape", (value.node, shape_node(want, context))), element)
    node = value.node
    if isinstance(element, PointerType):
        node = Method(node, "to", (Atom("tl.int64"),))
    if len(shape_of(expr.operand.type)) > 1:
        node = Call("tl.reshape", (node, Tuple((Atom("1"),))))
    if element == BOOL:
        node = Method(node, "to", (Atom("tl.int32"),))
    total: Node = Call("tl.sum", (node,), (("axis", Atom("0")),))
    if isinstance(element, PointerType):
        return as_type(Value(total, LONG), element)
    if isinstance(element, ScalarType) and element.bits < 32:
        return as_type(Value(total, FLOAT if element.is_float else INT), element)
    return Value(total, element)


def _expand(expr: typed.Expand, context: EmitContext) -> Value:
    value = tensor_of(expr.operand, context)
    items = ", ".join("None" if new else ":" for new in expr.axes)
    return Value(Index(value.node, items), value.element)


def _gather(expr: typed.Gather, context: EmitContext) -> Value:
    operand, index = lower(expr.operand, context), lower(expr.index, context)
    return Value(Call("tl.gather", (operand.node, index.node), (("axis", Atom("0")),)), operand.element)


def _permute(expr: typed.Permute, context: EmitContext) -> Value:
    value = lower(expr.operand, context)
    if expr.order == (1, 0):
        return Value(Call("tl.trans", (value.node,)), value.element)
    return Value(Call("tl.permute", (value.node, numbers(expr.order))), value.element)


def _reduce(expr: typed.Reduce, context: EmitContext) -> Value:
    value = lower(expr.operand, context)
    element = value.element
    assert isinstance(element, ScalarType)
    wide = as_type(value, FLOAT) if element.is_float and element.bits == 16 else value
    function = {"+": "tl.sum", "max": "tl.max", "min": "tl.min"}[expr.operator]
    call = Call(function, (wide.node,), (("axis", Atom(str(expr.axis))),))
    return as_type(Value(call, wide.element), element)


# ---------------------------------------------------------------- products


def numbers(values: tuple[int, ...]) -> Tuple:
    """Integers as a tuple."""
    return Tuple(tuple(Atom(str(value)) for value in values))


def dot(expr: typed.Dot, context: EmitContext) -> Value:
    """``a @ b``, with an accumulator if a pass gave it one."""
    left, right = tensor_of(expr.left, context).node, tensor_of(expr.right, context).node
    common = scalar_of(expr.left.type)
    assert common is not None
    element = element_of(expr.type)
    keywords: tuple[tuple[str, Node], ...] = ()
    if common == FLOAT:
        keywords = (("input_precision", Atom(f'"{context.precision}"')),)
    batch = shape_of(expr.type)[2:]
    if batch:
        operands = (_batch_first(left, expr.left, context), _batch_first(right, expr.right, context))
        return Value(_batch_last(Call("tl.dot", operands, keywords), shape_of(expr.type), context), element)
    depth = shape_of(expr.left.type)[1]
    while compare(depth, "<", min_depth(common), enforced=False):
        context.helpers.add("widen")
        left, right = Call("widen_lhs", (left,)), Call("widen_rhs", (right,))
        depth *= 2
    arguments = [left, right]
    if expr.accumulator is not None:
        arguments.append(tensor_of(expr.accumulator, context).node)
        # Triton 3.8: the accumulator is compared with this.
        if element != FLOAT:
            keywords = (("out_dtype", dtype(element)),)
    return Value(Call("tl.dot", tuple(arguments), keywords), element)


def _batch_first(node: Node, operand: Expr, context: EmitContext) -> Node:
    """Triton-C's batch axes trail, Triton's one comes first."""
    shape = shape_of(operand.type)
    order = (*range(2, len(shape)), 0, 1)
    node = Call("tl.permute", (node, numbers(order)))
    if len(shape) == 4:
        rows, columns = size_node(shape[0], context), size_node(shape[1], context)
        count = BinOp("*", size_node(shape[2], context), size_node(shape[3], context))
        node = Call("tl.reshape", (node, Tuple((count, rows, columns))))
    return node


def _batch_last(node: Node, shape: tuple[int, ...], context: EmitContext) -> Node:
    if len(shape) == 4:
        sizes = tuple(size_node(shape[axis], context) for axis in (2, 3, 0, 1))
        node = Call("tl.reshape", (node, Tuple(sizes)))
    order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))
    return Call("tl.permute", (node, numbers(order)))


# ---------------------------------------------------------------- operators


def unary(expr: typed.Unary, context: EmitContext) -> Value:
    """``-x``, ``~x`` or ``!x``."""
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    if expr.operator == "!":
        return negated(expr.operand, value)
    folded = None if value.strong else constant(expr)
    assert isinstance(element, ScalarType)
    if folded is not None and (element.kind == "uint" or unspelled(folded, element)):
        return bare(folded, element)  # Python and Triton have no such numbers
    if folded is not None and not element.is_float:
        inner = constant(expr.operand)
        assert isinstance(inner, int)
        if folded != (-inner if expr.operator == "-" else -1 - inner):
            return bare(folded, element)  # Python does not wrap
    number = value.number
    if value.weak and context.grows(expr, value):
        value = as_tensor(value)
    if number is not None:
        number = -number if expr.operator == "-" else -1 - number
        if value.strong and (number == 1 << 31 or unspelled(number, element)):
            value = as_tensor(value)
    node: Node = UnaryOp(expr.operator, value.node)
    if expr.operator == "-" and element.is_float and value.strong:
        # Triton's own minus is 0 - x, which loses the sign of zero.
        node = BinOp("*", Atom("-1.0"), value.node)
    return Value(node, element, value.strong, value.weak, number)


def binary(expr: typed.Binary, context: EmitContext) -> Value:
    """Any operator with two operands."""
    left, right = expr.left, expr.right
    element = element_of(expr.type)
    if expr.operator in ("&&", "||"):
        first, second = lower(left, context), lower(right, context)
        node = BinOp("&" if expr.operator == "&&" else "|", first.node, second.node)
        both, weak = first.strong or second.strong, first.weak and second.weak
        return Value(node, BOOL, both, weak, computed(expr, first, second), weak)
    if isinstance(element_of(left.type), PointerType):
        return pointer_arithmetic(expr, context)
    if expr.operator == "*" and (is_one(left) or is_one(right)):
        return lower(right if is_one(left) else left, context)  # a stride of 1, say
    common = element_of(left.type)
    assert isinstance(common, ScalarType)
    first, second = _operands(expr.operator, left, right, common, context)
    weak = first.weak and second.weak
    constant_value = None if first.strong or second.strong else constant(expr)
    undivided = expr.operator == "/" and constant(right) == 0  # Python raises
    if constant_value is not None and (undivided or unspelled(constant_value, common)):
        return bare(constant_value, common)
    if weak and differs(expr, first, second):
        if not (first.strong or second.strong):
            assert constant_value is not None
            return bare(constant_value, scalar_of(expr.type) or common)
        first, weak = as_tensor(first), False
    if weak and context.grows(expr, first, second):
        first, weak = as_tensor(first), False
    if expr.operator in COMPARISONS:
        number = computed(expr, first, second)
        first, second = compared(first, left, common), compared(second, right, common)
        strong, weak = first.strong or second.strong, first.weak and second.weak
        return Value(BinOp(expr.operator, first.node, second.node), BOOL, strong, weak, number, weak)
    strong = first.strong or second.strong
    if expr.operator in ("/", "%") and not common.is_float:
        return integer_division(expr, first, second, common)
    got = promoted(first, second, division=expr.operator == "/")
    node = BinOp(expr.operator, first.node, second.node)
    if got != element and strong:
        return as_type(Value(node, got or element), element)
    number = computed(expr, first, second)
    natural = number is None and expr.operator in ("+", "*", ">>")
    if natural:
        unknown_first = sorted((first, second), key=lambda value: value.number is not None)
        natural = all(value.is_natural for value in unknown_first)
    return Value(node, element, strong, weak, number, natural)


def _operands(
    operator: str, left: Expr, right: Expr, common: ScalarType, context: EmitContext
) -> tuple[Value, Value]:
    """Both operands, without those conversions to the common type that Triton makes by itself.

    ``?``: one of them is the result, which has the common type also where both are bare numbers.
    """
    division = operator in ("/", "%")
    wanted = FLOAT if division and common.is_float and common.bits == 16 else common
    (left_value, left_cast), (right_value, right_cast) = _both(left, context), _both(right, context)
    if operator in COMPARISONS and (held(left_value, left, right) or held(right_value, right, left)):
        return left_value, right_value
    if wanted != common:  # a number in a float division would not be rounded to half
        left_value, left_cast = (rounded(value, left, common) for value in (left_value, left_cast))
        right_value, right_cast = (rounded(value, right, common) for value in (right_value, right_cast))
    # A conversion that the user wrote is kept before one that C makes.
    if common == BFLOAT16:
        left_value, left_cast, right_value, right_cast = map(
            exact_bfloat16, (left_value, left_cast, right_value, right_cast)
        )
    if operator == "?" and left_value.weak and right_value.weak:
        plain = common in (INT, BOOL) or (common == FLOAT and is_float32(left) and is_float32(right))
        return left_cast if plain else as_tensor(left_cast), right_cast
    mixed = [(left_value, right_cast), (left_cast, right_value)]
    for first, second in ((left_value, right_value), *(reversed(mixed) if _written(left) else mixed)):
        exact = operator not in ("<<", ">>") or shifts(first, second, common)
        if common.kind == "uint" and any(value.weak and not value.is_natural for value in (first, second)):
            continue  # a bare number that may be below 0, which Triton refuses with an unsigned one
        got = promoted(first, second, division=division) if exact else None
        if got == wanted and (wanted == common or first.element == second.element == common):
            return first, second
    if promoted(left_cast, right_cast, division=division) == wanted:
        return left_cast, right_cast
    strong = right_cast.weak != right_cast.strong
    return as_tensor(left_cast), right_cast if strong else as_tensor(right_cast)


def _written(expr: Expr) -> bool:
    """Whether a conversion is in the source: it begins before its operand."""
    return isinstance(expr, typed.Cast) and expr.span.start < expr.operand.span.start


def _both(expr: Expr, context: EmitContext) -> tuple[Value, Value]:
    """An operand without its conversion to the common type, and with it."""
    if not isinstance(expr, typed.Cast) or scalar_of(expr.operand.type) is None:
        value = lower(expr, context)
        return value, value
    value = lower(expr.operand, context)
    converted = cast(expr, context, value)
    return (converted if converted.weak and not converted.strong else value), converted


def select(expr: typed.Select, context: EmitContext) -> Value:
    """``condition ? yes : no``."""
    condition = lower(expr.condition, context)
    element = element_of(expr.type)
    if isinstance(element, PointerType):
        yes, no = lower(expr.yes, context), lower(expr.no, context)
        arguments = (condition.node, yes.node, no.node)
        return Value(Call("tl.where", arguments), element)
    yes, no = _operands("?", expr.yes, expr.no, element, context)
    got = promoted(yes, no)
    value = Value(Call("tl.where", (condition.node, yes.node, no.node)), got or element)
    return as_type(value, element)


def cast(expr: typed.Cast, context: EmitContext, value: Value | None = None) -> Value:
    """A conversion. ``value``: its operand, if that was lowered before: twice for each of many would never end."""
    value = value or lower(expr.operand, context)
    element = element_of(expr.type)
    constant_value = None if value.strong or not isinstance(element, ScalarType) else constant(expr)
    if constant_value is not None and value.element != element:
        assert isinstance(element, ScalarType)
        # Python would compute in double what C computes in a narrower type, and wraps no integer around.
        floats = element.is_float and isinstance(value.element, ScalarType) and value.element.is_float
        if floats or (element.kind in ("int", "uint") and constant_value != constant(expr.operand)):
            return bare(constant_value, element)
    return as_type(value, element)


# ---------------------------------------------------------------- pointers and memory


INSPECTING: Final = frozenset(("bound", "inspected", "looked_up", "narrow"))


def pointer_arithmetic(expr: typed.Binary, context: EmitContext) -> Value:
    """``p + i``, ``p - i``, ``p - q`` and comparisons of pointers."""
    first, second = lower(expr.left, context), lower(expr.right, context)
    element = element_of(expr.type)
    if expr.operator in COMPARISONS:
        return Value(BinOp(expr.operator, first.node, second.node), BOOL)
    if isinstance(second.element, PointerType):
        width = byte_count(second.element.element)
        addresses = [Method(side.node, "to", (Atom("tl.int64"),)) for side in (first, second)]
        distance = BinOp("-", addresses[0], addresses[1])
        return Value(BinOp("//", distance, Atom(str(width))), LONG)
    if expr.operator == "-":
        return _moved_back(expr, first, second, context)
    return Value(BinOp("+", first.node, second.node), element)


def _moved_back(expr: typed.Binary, pointer: Value, offset: Value, context: EmitContext) -> Value:
    """A pointer less an offset: Triton negates in the type of the offset, and widens what comes out."""
    distance = None if offset.strong else offset.number
    if distance is None:
        wide = isinstance(offset.element, ScalarType) and offset.element.bits == 64
        offset = offset if wide or _is_natural(expr.right, context) else as_type(offset, LONG)
    elif not -(1 << 31) < distance < 1 << 31:
        back = number(wrap(-int(distance), LONG), LONG)
        named = isinstance(expr.right, typed.Constexpr) and 0 < distance < 1 << 63
        back = UnaryOp("-", offset.node) if named else back
        return Value(BinOp("+", pointer.node, back), pointer.element)
    return Value(BinOp("-", pointer.node, offset.node), pointer.element)


def _is_natural(offset: Expr, context: EmitContext) -> bool:
    """Whether a signed offset is one of a range, or the variable of a loop: at least 0."""
    while isinstance(offset, typed.Expand | typed.Broadcast):
        offset = offset.operand
    if isinstance(offset, typed.Range):
        return (constant(offset.start) or 0) >= 0
    return isinstance(offset, typed.Name) and offset.symbol in context.names.natural


def load(expr: typed.Load, context: EmitContext) -> Value:
    """``*p`` as ``tl.load``."""
    pointer = lower(expr.pointer, context)
    element = element_of(expr.type)
    want = shape_of(expr.pointer.type)
    keywords: list[tuple[str, Node]] = []
    if expr.mask is not None:
        keywords.append(("mask", mask_node(expr.mask, want, context)))
        if expr.other is not None:
            other = lower(expr.other, context)
            if element == DOUBLE:
                other = compared(other, expr.other, DOUBLE)
            keywords.append(("other", place(other, shape_of(expr.other.type), want)))
    if expr.site is not None:
        given = dict(keywords)
        other_node = given.get("other", Atom("None"))
        call = checked("load", expr.site, (pointer.node,), given.get("mask"), context, other_node)
    else:
        call = Call("tl.load", (pointer.node,), tuple(keywords))
    return _loaded(call, element)


def _loaded(call: Call, element: ElementType) -> Value:
    """What was loaded; a pointer is an integer in memory."""
    return Value(Method(call, "to", (dtype(element),)) if isinstance(element, PointerType) else call, element)


def mask_node(mask: Expr, want: tuple[int, ...], context: EmitContext) -> Node:
    """A mask with the rank of the pointer."""
    value = lower(mask, context)
    if value.strong and context.bare:
        value = as_tensor(value)  # an access takes no variable that is a number
    return place(value, shape_of(mask.type), want)


def atomic(expr: typed.Atomic, context: EmitContext) -> Value:
    """An atomic operation as Triton's."""
    want = shape_of(expr.pointer.type)
    arguments = [node_of(expr.pointer, context)]
    if expr.compare is not None:
        compare = lower(expr.compare, context)
        compare = compare if compare.element == INT else as_tensor(compare)
        arguments.append(place(compare, shape_of(expr.compare.type), want))
    element = element_of(expr.type)
    value = lower(expr.value, context)
    if element == DOUBLE:
        value = compared(value, expr.value, DOUBLE)
    if expr.compare is not None and value.element != INT:  # tl.atomic_cas converts nothing
        value = as_tensor(value)
    arguments.append(place(value, shape_of(expr.value.type), want))
    keywords: tuple[tuple[str, Node], ...] = ()
    if expr.mask is not None:
        mask = lower(expr.mask, context)
        mask = as_tensor(mask) if mask.strong else mask  # atomics take no number for a mask
        keywords = (("mask", place(mask, shape_of(expr.mask.type), want)),)
    if expr.site is not None:
        mask_given = dict(keywords).get("mask")
        name = f"atomic_{expr.operation}"
        return Value(checked(name, expr.site, tuple(arguments), mask_given, context), element)
    return Value(Call(f"tl.atomic_{expr.operation}", tuple(arguments), keywords), element)


def checked(
    name: str, number: int, operands: tuple[Node, ...], mask: Node | None, context: EmitContext, *more: Node
) -> Call:
    """The call of a helper that makes the access only where it is inside; ``True`` for no mask."""
    assert context.names.table is not None
    context.helpers.add(f"checked_{name}")
    numbers = [Atom(str(word)) for word in (number, len(context.sites[number].shape))]
    return Call(
        f"checked_{name}",
        (*operands, mask or Atom("True"), *more, Atom(context.names.table), *numbers),
    )


def inspecting(expr: typed.Call, context: EmitContext) -> Value:
    """A call that only an inspector makes."""
    table: Node = Atom(context.names.table or "")
    if expr.function == "bound":
        place = node_of(expr.arguments[0], context)
        return Value(Call("tl.load", (BinOp("+", table, place),)), LONG)
    nodes = tuple(node_of(argument, context) for argument in expr.arguments)
    if expr.function == "looked_up":
        context.helpers.add("looked_up")
        return _loaded(Call("looked_up", nodes), element_of(expr.type))
    if expr.function == "narrow":
        nodes = tuple(tensor_of(argument, context).node for argument in expr.arguments)
        name, count = "narrow", len(nodes) - 1
    else:
        name, count = "inspected", (len(nodes) - 5) // 2
    context.helpers |= {name, f"{name}_{count}"}
    return Value(Call(f"{name}_{count}", (table, *nodes)), BOOL)


# ---------------------------------------------------------------- functions


_SAME: Final = "exp log sqrt sin cos erf rsqrt sigmoid log2 exp2 floor ceil abs fma maximum minimum".split()
_FUNCTIONS: Final = {
    **{name: f"tl.{name}" for name in _SAME},
    **{"tanh": "libdevice.tanh", "pow": "libdevice.pow", "divide": "libdevice.fast_dividef"},
}
_MAX_EXTENT: Final = Atom("0x7FFFFFFF")  # extent of a tensor descriptor

# f(-0.0) is f(0.0).
_EVEN_AT_ZERO: Final = frozenset(("exp", "exp2", "cos", "abs", "sigmoid"))


def call(expr: typed.Call, context: EmitContext) -> Value:
    """A call of any built-in function, and of those that passes put in."""
    function = expr.function
    if function in ("program_id", "num_programs"):
        return Value(Call(f"tl.{function}", (node_of(expr.arguments[0], context),)), INT)
    if function == "descriptor":
        return _descriptor(expr, context)
    if function == "tile":  # of a descriptor, with a corner in that row and column
        descriptor, *corner = (node_of(argument, context) for argument in expr.arguments)
        return Value(Method(descriptor, "load", (Tuple(tuple(corner)),)), element_of(expr.type))
    if function == "barrier":
        return Value(Call("tl.debug_barrier", ()), INT)
    if function in INSPECTING:
        return inspecting(expr, context)
    if function == "watched":
        return Value(Call("watched", tuple(node_of(argument, context) for argument in expr.arguments)), INT)
    if function == "next_power_of_2":
        size = node_of(expr.arguments[0], context)
        return Value(Call("triton.next_power_of_2", (size,)), INT, strong=False, weak=True)
    element = element_of(expr.type)
    assert isinstance(element, ScalarType)
    if function in ("min", "max"):
        return _extremum(expr, element, context)
    values = [_argument(function, argument, context) for argument in expr.arguments]
    if function == "cut_from_loads":
        context.helpers.add(function)
        return Value(Call(function, (values[0].node,)), element)
    if function == "fma" and not element.is_float:
        product = BinOp("*", values[0].node, values[1].node)
        return Value(BinOp("+", product, values[2].node), element)
    if function in ("floor", "ceil") and not element.is_float:
        return values[0]
    if function in ("floor", "ceil"):
        return _rounded(function, values[0], element, context)
    if function == "abs" and element == HALF:
        return as_type(Value(Call("tl.abs", (values[0].node,)), HALF), element)
    if _FUNCTIONS[function].startswith("libdevice"):
        context.libdevice = True
        pairs = zip(values, expr.arguments, strict=True)
        values = [_spread(value, argument, expr, context) for value, argument in pairs]
    return Value(Call(_FUNCTIONS[function], tuple(value.node for value in values)), element)


def _descriptor(expr: typed.Call, context: EmitContext) -> Value:
    """A tensor descriptor of a pointer, with the distance of its rows and a shape of tiles."""
    base, stride = (node_of(argument, context) for argument in expr.arguments)
    keywords: tuple[tuple[str, Node], ...] = (
        ("shape", Tuple((_MAX_EXTENT, _MAX_EXTENT))),
        ("strides", Tuple((stride, Atom("1")))),
        ("block_shape", shape_node(shape_of(expr.type), context)),
    )
    element = element_of(expr.type)
    return Value(Call("tl.make_tensor_descriptor", (base,), keywords), element)


def _rounded(function: str, value: Value, element: ScalarType, context: EmitContext) -> Value:
    """``floor`` or ``ceil``, which Triton has for float and double, and with subnormal numbers for double."""
    if element not in (FLOAT, BFLOAT16):
        wide = value if element == DOUBLE else as_type(value, FLOAT)
        rounded = Call(_FUNCTIONS[function], (wide.node,))
    else:
        context.helpers.add(f"ieee_{function}")
        rounded = Call(f"ieee_{function}", (as_type(value, FLOAT).node,))
    return as_type(Value(rounded, DOUBLE if element == DOUBLE else FLOAT), element)


def _argument(function: str, argument: Expr, context: EmitContext) -> Value:
    """An argument as a tensor; the sign of a zero does not show in some functions."""
    match argument:
        case typed.Unary(operator="-", operand=operand) if function in _EVEN_AT_ZERO:
            value = tensor_of(operand, context)
            return Value(UnaryOp("-", value.node), value.element)
        case _:
            return tensor_of(argument, context)


def _spread(value: Value, operand: Expr, expr: Expr, context: EmitContext) -> Value:
    """An operand of a library function, which does not broadcast."""
    want = shape_of(expr.type)
    if shape_of(operand.type) == want:
        return value
    node = place(value, shape_of(operand.type), want)
    return Value(Call("tl.broadcast_to", (node, shape_node(want, context))), value.element)


def _extremum(expr: typed.Call, element: ScalarType, context: EmitContext) -> Value:
    """``a < b ? a : b`` on floats, which gives b where either is NaN; Triton's own on integers."""
    left, right = _operands("?", expr.arguments[0], expr.arguments[1], element, context)
    if element.is_float:
        first = compared(left, expr.arguments[0], element).node
        second = compared(right, expr.arguments[1], element).node
        compare = BinOp("<" if expr.function == "min" else ">", first, second)
        chosen = Call("tl.where", (compare, left.node, right.node))
    else:
        function = "tl.minimum" if expr.function == "min" else "tl.maximum"
        chosen = Call(function, (left.node, right.node))
    return as_type(Value(chosen, promoted(left, right) or element), element)


# lang/tree/effects.py leaves no Sequenced.
_LOWER: Final[dict[type, Callable[[Any, EmitContext], Value]]] = {
    typed.Literal: _literal,
    typed.Constexpr: _constexpr,
    typed.Name: _name,
    typed.Unary: unary,
    typed.Binary: binary,
    typed.Select: select,
    typed.Load: load,
    typed.Cast: cast,
    typed.Bitcast: _bitcast,
    typed.Broadcast: _broadcast,
    typed.Reshape: _reshape,
    typed.Expand: _expand,
    typed.Gather: _gather,
    typed.Permute: _permute,
    typed.Reduce: _reduce,
    typed.Range: _range,
    typed.Dot: dot,
    typed.Call: call,
    typed.Atomic: atomic,
}
