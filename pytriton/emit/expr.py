"""Typed expressions -> Python expressions with the same meaning in Triton.

Input: a typed expression. Output: a ``Value`` whose element type is exactly the typed one. C's conversions are
explicit in the tree; one is written down only where Triton's own promotion (values.py) would not do the same.
Invariant: whatever ``lower`` returns may be used wherever the typed expression may.
"""

from __future__ import annotations

from typing import Final

from pytriton.emit.functions import Functions
from pytriton.emit.memory import COMPARISONS, Memory
from pytriton.emit.names import Names
from pytriton.emit.numbers import (
    bare,
    computed,
    converts_otherwise,
    differs,
    dtype,
    full,
    held,
    is_float32,
    is_one,
    lost_in_half,
    rounded,
    unspelled,
)
from pytriton.emit.products import Products, numbers
from pytriton.emit.python import Atom, BinOp, Call, Index, Method, Node, Tuple, UnaryOp
from pytriton.emit.values import Value, promoted, shifts
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import constant, round_to, scalar_of
from pytriton.lang.tree.typed import Expr, Size
from pytriton.lang.tree.types import (
    BFLOAT16,
    BOOL,
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

__all__ = ["Expressions"]

_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}


def _is_float(element: ElementType) -> bool:
    return isinstance(element, ScalarType) and element.is_float


def _below_zero(value: Value) -> bool:
    """Whether a value may be a bare number below 0."""
    return value.weak and not value.natural


def _written(expr: Expr) -> bool:
    """Whether a conversion stands in the text: it begins before what it converts."""
    return isinstance(expr, typed.Cast) and expr.span.start < expr.operand.span.start


def _negates(operator: str, comparison: Expr) -> bool:
    """Whether the opposite operator negates a comparison: not ``<`` of floats, as NaN is unordered."""
    if operator in ("==", "!="):
        return True
    if operator not in _NEGATED or not isinstance(comparison, typed.Binary):
        return False
    scalar = scalar_of(comparison.left.type)
    return scalar is None or not scalar.is_float


class Expressions(Memory, Functions, Products):
    """Lowers expressions with one choice of identifiers."""

    def __init__(self, names: Names, precision: str) -> None:
        self.names = names
        self.precision = precision
        self.helpers: set[str] = set()
        self.libdevice = False  # whether the module must import it

    # ---------------------------------------------------------------- entry points

    def lower(self, expr: Expr) -> Value:
        """The expression in Python."""
        match expr:
            case typed.Literal():
                return self._literal(expr)
            case typed.Constexpr():
                return self._constexpr(expr)
            case typed.Name():
                return self._name(expr)
            case typed.Unary():
                return self._unary(expr)
            case typed.Binary():
                return self._binary(expr)
            case typed.Select():
                return self._select(expr)
            case typed.Load():
                return self.load(expr)
            case typed.Cast():
                return self._cast(expr)
            case typed.Bitcast():
                return self._bitcast(expr)
            case typed.Broadcast():
                return self._broadcast(expr)
            case typed.Reshape():
                return self._reshape(expr)
            case typed.Expand():
                return self._expand(expr)
            case typed.Gather():
                return self._gather(expr)
            case typed.Permute():
                return self._permute(expr)
            case typed.Reduce():
                return self._reduce(expr)
            case typed.Range():
                return self._range(expr)
            case typed.Dot():
                return self.dot(expr)
            case typed.Call():
                return self.call(expr)
            case typed.Atomic():
                return self.atomic(expr)

    def node(self, expr: Expr) -> Node:
        """The expression in Python, where only its text matters."""
        return self.lower(expr).node

    def tensor(self, expr: Expr) -> Value:
        """The expression as a tensor of its type, even if it is a bare number."""
        return self.strong(self.lower(expr))

    def shape(self, sizes: tuple[int, ...]) -> Node:
        """A shape as a tuple of the expressions that gave its sizes."""
        return Tuple(tuple(self.size(size) for size in sizes))

    def size(self, size: int) -> Node:
        """One size, in the names that gave it."""
        if isinstance(size, Size) and size.expr is not None:
            return self.node(size.expr)
        return Atom(int.__repr__(size))

    # ---------------------------------------------------------------- leaves

    def _literal(self, expr: typed.Literal) -> Value:
        element = scalar_of(expr.type)
        assert element is not None
        return bare(expr.value, element)

    def _constexpr(self, expr: typed.Constexpr) -> Value:
        element = scalar_of(expr.type)
        assert element is not None
        value = constant(expr)
        if value is not None and unspelled(value, element):
            return bare(value, element)
        name = self.names.constexpr(expr.name, expr.value)
        return Value(Atom(name), element, False, True, expr.value, expr.value >= 0)

    def _name(self, expr: typed.Name) -> Value:
        symbol = expr.symbol
        if symbol.value is not None:
            return self._literal(typed.Literal(expr.span, expr.type, symbol.value))
        element = element_of(symbol.type)
        weak = symbol in self.names.weak
        one = 1 if weak and symbol.parameter else None  # Triton makes constants of ones only
        natural = one is not None or symbol in self.names.natural
        return Value(Atom(self.names[symbol]), element, True, weak, one, natural)

    def _range(self, expr: typed.Range) -> Value:
        first = constant(expr.start)
        assert isinstance(first, int)
        length = shape_of(expr.type)[0]
        if first >= 0 and length + first == constant(expr.stop):
            return Value(Call("tl.arange", (self.node(expr.start), self.node(expr.stop))), INT)
        # tl.arange starts at 0 or above, and has a power of two of elements
        whole = Call("tl.arange", (Atom("0"), self.size(length)))
        if first == 0:
            return Value(whole, INT)
        offset = Atom(str(-first)) if first < 0 else self.node(expr.start)
        return Value(BinOp("-" if first < 0 else "+", whole, offset), INT)

    # ---------------------------------------------------------------- operators

    def _unary(self, expr: typed.Unary) -> Value:
        value = self.lower(expr.operand)
        element = element_of(expr.type)  # type: ignore[arg-type]
        if expr.operator == "!":
            return self._not(expr.operand, value)
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
                value = self.strong(value)
        node: Node = UnaryOp(expr.operator, value.node)
        if expr.operator == "-" and _is_float(element) and value.strong:
            # Triton's own minus is 0 - x, which loses the sign of zero.
            node = BinOp("*", Atom("-1.0"), value.node)
        return Value(node, element, value.strong, value.weak, number, number is not None and number >= 0)

    def _not(self, operand: Expr, value: Value) -> Value:
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

    def _binary(self, expr: typed.Binary) -> Value:
        left, right = expr.left, expr.right
        element = element_of(expr.type)  # type: ignore[arg-type]
        if expr.operator in ("&&", "||"):
            first, second = self.lower(left), self.lower(right)
            node = BinOp("&" if expr.operator == "&&" else "|", first.node, second.node)
            both, weak = first.strong or second.strong, first.weak and second.weak
            return Value(node, BOOL, both, weak, computed(expr, first, second), weak)
        if isinstance(element_of(left.type), PointerType):  # type: ignore[arg-type]
            return self.pointer(expr)
        if expr.operator == "*" and (is_one(left) or is_one(right)):
            return self.lower(right if is_one(left) else left)  # a stride of 1, say
        common = element_of(left.type)  # type: ignore[arg-type]
        assert isinstance(common, ScalarType)
        first, second = self._operands(expr.operator, left, right, common)
        weak = first.weak and second.weak
        known = None if first.strong or second.strong else constant(expr)
        undivided = expr.operator == "/" and constant(right) == 0  # Python raises
        if known is not None and (undivided or unspelled(known, common)):
            return bare(known, common)
        if weak and differs(expr, first, second):
            if not (first.strong or second.strong):
                assert known is not None
                return bare(known, scalar_of(expr.type) or common)
            first, weak = self.strong(first), False
        if expr.operator in COMPARISONS:
            number = computed(expr, first, second)
            first, second = self.compared(first, left, common), self.compared(second, right, common)
            strong, weak = first.strong or second.strong, first.weak and second.weak
            return Value(BinOp(expr.operator, first.node, second.node), BOOL, strong, weak, number, weak)
        strong = first.strong or second.strong
        if expr.operator in ("/", "%") and not common.is_float:
            return self._integer_division(expr, first, second, common)
        got = promoted(first, second, division=expr.operator == "/")
        node = BinOp(expr.operator, first.node, second.node)
        if got != element and strong:
            return self.to(Value(node, got or element), element)
        number = computed(expr, first, second)
        natural = expr.operator in ("+", "*", ">>") and first.natural and second.natural
        return Value(node, element, strong, weak, number, natural if number is None else number >= 0)

    def _operands(self, operator: str, left: Expr, right: Expr, common: ScalarType) -> tuple[Value, Value]:
        """Both operands, without those conversions to the common type that Triton makes by itself."""
        division = operator in ("/", "%")
        wanted = FLOAT if division and common.is_float and common.bits == 16 else common
        (one, one_cast), (two, two_cast) = self._both(left), self._both(right)
        if operator in COMPARISONS and (held(one, left, right) or held(two, right, left)):
            return one, two
        if wanted != common:  # a number in a float division would not be rounded to half
            one, one_cast = (rounded(value, left, common) for value in (one, one_cast))
            two, two_cast = (rounded(value, right, common) for value in (two, two_cast))
        # A conversion that the user wrote is kept before one that C makes.
        if common == BFLOAT16:
            one, one_cast, two, two_cast = map(self._kept, (one, one_cast, two, two_cast))
        if operator == "?" and one.weak and two.weak:
            plain = common in (INT, BOOL) or (common == FLOAT and is_float32(left) and is_float32(right))
            return one_cast if plain else self.strong(one_cast), two_cast
        mixed = [(one, two_cast), (one_cast, two)]
        for first, second in ((one, two), *(reversed(mixed) if _written(left) else mixed)):
            exact = operator not in ("<<", ">>") or shifts(first, second, common)
            if common.kind == "uint" and any(_below_zero(value) for value in (first, second)):
                continue  # a bare number that Triton refuses beside an unsigned one
            got = promoted(first, second, division=division) if exact else None
            if got == wanted and (wanted == common or first.element == second.element == common):
                return first, second
        if promoted(one_cast, two_cast, division=division) == wanted:
            return one_cast, two_cast
        strong = two_cast.weak != two_cast.strong
        return self.strong(one_cast), two_cast if strong else self.strong(two_cast)

    def _kept(self, value: Value) -> Value:
        """A bfloat16 number that Triton might lose as a tensor."""
        bare_ = value.element == BFLOAT16 and not value.strong
        return self.strong(value) if bare_ and lost_in_half(value.node) else value

    def compared(self, value: Value, expr: Expr, common: ScalarType) -> Value:
        """An operand of a comparison: Triton 3.6 takes a number there for a float32, whatever it meets."""
        if common == DOUBLE:
            known = None if value.strong else constant(expr)
            return value if known is None or round_to(known, FLOAT) == known else self.strong(value)
        narrow = common.is_float and common.bits == 16
        return rounded(value, expr, common) if narrow else value

    def _both(self, expr: Expr) -> tuple[Value, Value]:
        """An operand without its conversion to the common type, and with it."""
        if not isinstance(expr, typed.Cast) or scalar_of(expr.operand.type) is None:
            value = self.lower(expr)
            return value, value
        value = self.lower(expr.operand)
        cast = self._cast(expr, value)
        return (cast if cast.weak and not cast.strong else value), cast

    def _integer_division(self, expr: typed.Binary, first: Value, second: Value, common: ScalarType) -> Value:
        """``/`` and ``%`` on integers: Triton truncates on tensors, Python floors on numbers."""
        operator = "//" if expr.operator == "/" else "%"
        counted = first.number is not None and second.number is not None  # and Python's quotient is C's
        if first.weak and second.weak and not (counted or (first.natural and second.natural)):
            first = self.strong(first)
        if first.element == BOOL and not first.weak:
            first = self.to(first, common)
        node = BinOp(operator, first.node, second.node)
        strong, weak = first.strong or second.strong, first.weak and second.weak
        return Value(node, common, strong, weak, computed(expr, first, second), weak)

    def _select(self, expr: typed.Select) -> Value:
        condition = self.lower(expr.condition)
        element = element_of(expr.type)  # type: ignore[arg-type]
        if isinstance(element, PointerType):
            yes, no = self.lower(expr.yes), self.lower(expr.no)
            arguments = (condition.node, yes.node, no.node)
            return Value(Call("tl.where", arguments), element)
        yes, no = self.alternatives(expr.yes, expr.no, element)
        got = promoted(yes, no)
        value = Value(Call("tl.where", (condition.node, yes.node, no.node)), got or element)
        return self.to(value, element)

    def alternatives(self, left: Expr, right: Expr, element: ScalarType) -> tuple[Value, Value]:
        """Two operands of which one is taken: both in the common type, also where both are bare numbers."""
        return self._operands("?", left, right, element)

    # ---------------------------------------------------------------- conversions

    def _cast(self, expr: typed.Cast, value: Value | None = None) -> Value:
        """``value``: its operand, if that was lowered before: twice for each of many casts would never end."""
        value = value or self.lower(expr.operand)
        element = element_of(expr.type)  # type: ignore[arg-type]
        known = None if value.strong or not isinstance(element, ScalarType) else constant(expr)
        if known is not None and value.element != element:
            assert isinstance(element, ScalarType)
            # Python would compute in double what C computes in a narrower type, and wraps no integer around.
            floats = element.is_float and _is_float(value.element)
            if floats or (element.kind in ("int", "uint") and known != constant(expr.operand)):
                return bare(known, element)
        return self.to(value, element)

    def to(self, value: Value, element: ElementType) -> Value:
        """The value converted to an element type."""
        if value.element == element:
            return value
        if converts_otherwise(value, element):
            value = self.strong(value)
        if element == BOOL:
            if isinstance(value.element, PointerType):
                value = Value(Method(value.node, "to", (Atom("tl.int64"),)), LONG)
            zero = Atom("0.0" if isinstance(value.element, ScalarType) and value.element.is_float else "0")
            true = None if value.number is None else value.number != 0
            return Value(BinOp("!=", value.node, zero), BOOL, value.strong, value.weak, true, value.weak)
        number = value.element if isinstance(value.element, ScalarType) else None
        if isinstance(element, PointerType) and number is not None and (value.weak or number.bits < 64):
            value = self.strong(self.to(value, LONG))  # Triton makes a pointer of 64 bits only
        if value.weak:
            return Value(Call("tl.cast", (value.node, dtype(element))), element)
        return Value(Method(value.node, "to", (dtype(element),)), element)

    def strong(self, value: Value) -> Value:
        """The value as a tensor of its own type."""
        if not value.weak:
            return value
        if value.strong:
            return Value(Call("tl.cast", (value.node, dtype(value.element))), value.element)
        return Value(full(value.node, value.element), value.element)

    def _bitcast(self, expr: typed.Bitcast) -> Value:
        element = element_of(expr.type)  # type: ignore[arg-type]
        value = self.tensor(expr.operand)
        return Value(Call("tl.cast", (value.node, dtype(element)), (("bitcast", Atom("True")),)), element)

    # ---------------------------------------------------------------- shapes

    def _broadcast(self, expr: typed.Broadcast) -> Value:
        value = self.lower(expr.operand)
        element = element_of(expr.type)  # type: ignore[arg-type]
        have, want = shape_of(expr.operand.type), shape_of(expr.type)
        shape = self.shape(want)
        if not have and isinstance(element, ScalarType):
            if constant(expr.operand) == 0 and not unspelled(constant(expr.operand), element):
                return Value(Call("tl.zeros", (shape,), (("dtype", dtype(element)),)), element)
            return Value(full(value.node, element, shape), element)
        return Value(Call("tl.broadcast_to", (self.place(value, have, want), shape)), element)

    def _reshape(self, expr: typed.Reshape) -> Value:
        value = self.lower(expr.operand)
        element = element_of(expr.type)  # type: ignore[arg-type]
        want = shape_of(expr.type)
        if want:
            return Value(Call("tl.reshape", (value.node, self.shape(want))), element)
        node = value.node
        if isinstance(element, PointerType):
            node = Method(node, "to", (Atom("tl.int64"),))
        if len(shape_of(expr.operand.type)) > 1:
            node = Call("tl.reshape", (node, Tuple((Atom("1"),))))
        if element == BOOL:
            node = Method(node, "to", (Atom("tl.int32"),))
        total: Node = Call("tl.sum", (node,), (("axis", Atom("0")),))
        if isinstance(element, PointerType):
            return self.to(Value(total, LONG), element)
        if isinstance(element, ScalarType) and element.bits < 32:
            return self.to(Value(total, FLOAT if element.is_float else INT), element)
        return Value(total, element)

    def _expand(self, expr: typed.Expand) -> Value:
        value = self.tensor(expr.operand)
        items = ", ".join("None" if new else ":" for new in expr.axes)
        return Value(Index(value.node, items), value.element)

    def _gather(self, expr: typed.Gather) -> Value:
        operand, index = self.lower(expr.operand), self.lower(expr.index)
        return Value(Call("tl.gather", (operand.node, index.node), (("axis", Atom("0")),)), operand.element)

    def _permute(self, expr: typed.Permute) -> Value:
        value = self.lower(expr.operand)
        if expr.order == (1, 0):
            return Value(Call("tl.trans", (value.node,)), value.element)
        return Value(Call("tl.permute", (value.node, numbers(expr.order))), value.element)

    def _reduce(self, expr: typed.Reduce) -> Value:
        value = self.lower(expr.operand)
        element = value.element
        assert isinstance(element, ScalarType)
        wide = self.to(value, FLOAT) if element.is_float and element.bits == 16 else value
        function = {"+": "tl.sum", "max": "tl.max", "min": "tl.min"}[expr.operator]
        call = Call(function, (wide.node,), (("axis", Atom(str(expr.axis))),))
        return self.to(Value(call, wide.element), element)
