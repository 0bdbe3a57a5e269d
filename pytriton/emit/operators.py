"""Operators, choices and conversions -> Python's operators with the same meaning in Triton.

Input: a typed operator. Output: a ``Value`` whose element type is exactly the typed one. C's conversions are
explicit in the tree; one is written down only where Triton's own promotion (values.py) would not do the same.
"""

from __future__ import annotations

from typing import Final

from pytriton.emit.context import Context, lower, size_node, tensor_of
from pytriton.emit.conversions import as_tensor, as_type, compared
from pytriton.emit.memory import COMPARISONS, pointer_arithmetic
from pytriton.emit.numbers import (
    bare,
    computed,
    differs,
    dtype,
    held,
    is_float32,
    is_one,
    lost_in_half,
    rounded,
    unspelled,
)
from pytriton.emit.python import Atom, BinOp, Call, Node, Tuple, UnaryOp
from pytriton.emit.values import Value, promoted, shifts
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, min_depth, scalar_of
from pytriton.lang.tree.typed import Expr
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
    FLOAT,
    INT,
    ElementType,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)

# ---------------------------------------------------------------- products
# Matrix products -> ``tl.dot``, with what it wants: enough depth, and the batch axis first.
#
# Input: a product that passes/lower/products.py left, so that Triton has it. Half, bfloat16 and char accumulate in
# the type of the result; float is exact ("ieee") as it was, unless the user asks for another precision.


def numbers(values: tuple[int, ...]) -> Tuple:
    """Integers as a tuple."""
    return Tuple(tuple(Atom(str(value)) for value in values))


def dot(expr: typed.Dot, context: Context) -> Value:
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
    while depth < min_depth(common):
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


def _batch_first(node: Node, operand: Expr, context: Context) -> Node:
    """Triton-C's batch axes trail, Triton's one comes first."""
    shape = shape_of(operand.type)
    order = (*range(2, len(shape)), 0, 1)
    node = Call("tl.permute", (node, numbers(order)))
    if len(shape) == 4:
        rows, columns = size_node(shape[0], context), size_node(shape[1], context)
        count = BinOp("*", size_node(shape[2], context), size_node(shape[3], context))
        node = Call("tl.reshape", (node, Tuple((count, rows, columns))))
    return node


def _batch_last(node: Node, shape: tuple[int, ...], context: Context) -> Node:
    if len(shape) == 4:
        sizes = tuple(size_node(shape[axis], context) for axis in (2, 3, 0, 1))
        node = Call("tl.reshape", (node, Tuple(sizes)))
    order = (len(shape) - 2, len(shape) - 1, *range(len(shape) - 2))
    return Call("tl.permute", (node, numbers(order)))


_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def unary(expr: typed.Unary, context: Context) -> Value:
    """``-x``, ``~x`` or ``!x``."""
    value = lower(expr.operand, context)
    element = element_of(expr.type)
    if expr.operator == "!":
        return _not(expr.operand, value)
    folded = None if value.strong else constant(expr)
    assert isinstance(element, ScalarType)
    if folded is not None and (element.kind == "uint" or unspelled(folded, element)):
        return bare(folded, element)  # Python and Triton have no such numbers
    if folded is not None and not element.is_float:
        inner = constant(expr.operand) or 0
        if folded != (-inner if expr.operator == "-" else ~int(inner)):
            return bare(folded, element)  # Python does not wrap
    number = value.number
    if number is not None:
        number = -number if expr.operator == "-" else ~int(number)
        if value.strong and (number == 1 << 31 or unspelled(number, element)):
            value = as_tensor(value)
    node: Node = UnaryOp(expr.operator, value.node)
    if expr.operator == "-" and _is_float(element) and value.strong:
        # Triton's own minus is 0 - x, which loses the sign of zero.
        node = BinOp("*", Atom("-1.0"), value.node)
    return Value(node, element, value.strong, value.weak, number, number is not None and number >= 0)


def _is_float(element: ElementType) -> bool:
    return isinstance(element, ScalarType) and element.is_float


def _not(operand: Expr, value: Value) -> Value:
    node = value.node
    number = None if value.number is None else not value.number
    if isinstance(node, BinOp) and _negates(node.operator, operand):
        flipped = BinOp(_NEGATED[node.operator], node.left, node.right)
        return Value(flipped, BOOL, value.strong, value.weak, number, value.weak)
    if not value.weak:
        return Value(UnaryOp("~", node), BOOL)
    if not value.strong:
        return Value(UnaryOp("not", node), BOOL, False, True, number, True)
    return Value(BinOp("==", node, Atom("0")), BOOL, value.strong, value.weak, number, True)


def _negates(operator: str, comparison: Expr) -> bool:
    """Whether the opposite operator negates a comparison: not ``<`` of floats, as NaN is unordered."""
    if operator in ("==", "!="):
        return True
    if operator not in _NEGATED or not isinstance(comparison, typed.Binary):
        return False
    scalar = scalar_of(comparison.left.type)
    return scalar is None or not scalar.is_float


def binary(expr: typed.Binary, context: Context) -> Value:
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
    known = None if first.strong or second.strong else constant(expr)
    undivided = expr.operator == "/" and constant(right) == 0  # Python raises
    if known is not None and (undivided or unspelled(known, common)):
        return bare(known, common)
    if weak and differs(expr, first, second):
        if not (first.strong or second.strong):
            assert known is not None
            return bare(known, scalar_of(expr.type) or common)
        first, weak = as_tensor(first), False
    if expr.operator in COMPARISONS:
        number = computed(expr, first, second)
        first, second = compared(first, left, common), compared(second, right, common)
        strong, weak = first.strong or second.strong, first.weak and second.weak
        return Value(BinOp(expr.operator, first.node, second.node), BOOL, strong, weak, number, weak)
    strong = first.strong or second.strong
    if expr.operator in ("/", "%") and not common.is_float:
        return _integer_division(expr, first, second, common)
    got = promoted(first, second, division=expr.operator == "/")
    node = BinOp(expr.operator, first.node, second.node)
    if got != element and strong:
        return as_type(Value(node, got or element), element)
    number = computed(expr, first, second)
    natural = expr.operator in ("+", "*", ">>") and first.natural and second.natural
    return Value(node, element, strong, weak, number, natural if number is None else number >= 0)


def _operands(
    operator: str, left: Expr, right: Expr, common: ScalarType, context: Context
) -> tuple[Value, Value]:
    """Both operands, without those conversions to the common type that Triton makes by itself."""
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
            _exact_bfloat16, (left_value, left_cast, right_value, right_cast)
        )
    if operator == "?" and left_value.weak and right_value.weak:
        plain = common in (INT, BOOL) or (common == FLOAT and is_float32(left) and is_float32(right))
        return left_cast if plain else as_tensor(left_cast), right_cast
    mixed = [(left_value, right_cast), (left_cast, right_value)]
    for first, second in ((left_value, right_value), *(reversed(mixed) if _written(left) else mixed)):
        exact = operator not in ("<<", ">>") or shifts(first, second, common)
        if common.kind == "uint" and any(value.weak and not value.natural for value in (first, second)):
            continue  # a bare number that may be below 0, which Triton refuses beside an unsigned one
        got = promoted(first, second, division=division) if exact else None
        if got == wanted and (wanted == common or first.element == second.element == common):
            return first, second
    if promoted(left_cast, right_cast, division=division) == wanted:
        return left_cast, right_cast
    strong = right_cast.weak != right_cast.strong
    return as_tensor(left_cast), right_cast if strong else as_tensor(right_cast)


def _written(expr: Expr) -> bool:
    """Whether a conversion stands in the text: it begins before what it converts."""
    return isinstance(expr, typed.Cast) and expr.span.start < expr.operand.span.start


def _exact_bfloat16(value: Value) -> Value:
    """A bfloat16 number that Triton might lose as a tensor."""
    is_number = value.element == BFLOAT16 and not value.strong
    return as_tensor(value) if is_number and lost_in_half(value.node) else value


def _both(expr: Expr, context: Context) -> tuple[Value, Value]:
    """An operand without its conversion to the common type, and with it."""
    if not isinstance(expr, typed.Cast) or scalar_of(expr.operand.type) is None:
        value = lower(expr, context)
        return value, value
    value = lower(expr.operand, context)
    converted = cast(expr, context, value)
    return (converted if converted.weak and not converted.strong else value), converted


def _integer_division(expr: typed.Binary, first: Value, second: Value, common: ScalarType) -> Value:
    """``/`` and ``%`` on integers: Triton truncates on tensors, Python floors on numbers."""
    operator = "//" if expr.operator == "/" else "%"
    counted = first.number is not None and second.number is not None  # and Python's quotient is C's
    if first.weak and second.weak and not (counted or (first.natural and second.natural)):
        first = as_tensor(first)
    if first.element == BOOL and not first.weak:
        first = as_type(first, common)
    node = BinOp(operator, first.node, second.node)
    strong, weak = first.strong or second.strong, first.weak and second.weak
    return Value(node, common, strong, weak, computed(expr, first, second), weak)


def select(expr: typed.Select, context: Context) -> Value:
    """``condition ? yes : no``."""
    condition = lower(expr.condition, context)
    element = element_of(expr.type)
    if isinstance(element, PointerType):
        yes, no = lower(expr.yes, context), lower(expr.no, context)
        arguments = (condition.node, yes.node, no.node)
        return Value(Call("tl.where", arguments), element)
    yes, no = alternatives(expr.yes, expr.no, element, context)
    got = promoted(yes, no)
    value = Value(Call("tl.where", (condition.node, yes.node, no.node)), got or element)
    return as_type(value, element)


def alternatives(left: Expr, right: Expr, element: ScalarType, context: Context) -> tuple[Value, Value]:
    """Two operands of which one is taken: both in the common type, also where both are bare numbers."""
    return _operands("?", left, right, element, context)


def cast(expr: typed.Cast, context: Context, value: Value | None = None) -> Value:
    """A conversion. ``value``: its operand, if that was lowered before: twice for each of many would never end."""
    value = value or lower(expr.operand, context)
    element = element_of(expr.type)
    known = None if value.strong or not isinstance(element, ScalarType) else constant(expr)
    if known is not None and value.element != element:
        assert isinstance(element, ScalarType)
        # Python would compute in double what C computes in a narrower type, and wraps no integer around.
        floats = element.is_float and _is_float(value.element)
        if floats or (element.kind in ("int", "uint") and known != constant(expr.operand)):
            return bare(known, element)
    return as_type(value, element)
