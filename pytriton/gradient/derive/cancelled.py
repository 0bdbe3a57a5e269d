"""Extremes that cancel out: the largest element of a row, subtracted so that nothing overflows.

Nothing flows through such an extreme. ``Shift`` adds a d of its own to each element of the extreme in each
iteration, and follows what becomes ``value + a * d``, and what ``value * exp(m * d)``, with the axis of the value
for each axis of d. What mixes two elements of d, as a reduction over such an axis or the difference of an extreme
and its transpose, is not known. Nor is what a loop carries from one iteration to the next, if that has another d.
Where no output changes, the derivative by the extreme is zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from pytriton.frozen import record
from pytriton.gradient.derive.access import Axes, moved_axes, repeated_axes
from pytriton.gradient.derive.active import Cancelled, Flow, converts_floats, is_floating
from pytriton.gradient.derive.graph import Branch, Define, Item, Loop, Write, every, nodes_of
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Dot,
    Expand,
    Expr,
    Literal,
    Name,
    Permute,
    Reduce,
    Reshape,
    Select,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import DOUBLE, Type, element_of, shape_of
from pytriton.lang.tree.walk import children, has_memory, same


def flow_of(
    items: list[Item],
    parameters: Iterable[Symbol],
    inputs: Collection[Symbol],
    outputs: Collection[Symbol],
) -> Flow:
    """The flow of a graph, in which nothing flows through extremes that cancel out of the outputs."""
    parameters = list(parameters)
    flow = Flow(items, parameters, inputs)
    proofs = list(cancelled(items, flow, outputs))
    return Flow(items, parameters, inputs, proofs) if proofs else flow


def cancelled(items: Sequence[Item], flow: Flow, outputs: Collection[Symbol]) -> Iterator[Cancelled]:
    """The largest and least elements that no output depends on."""
    for extremes in _groups(items):
        if outputs and any(map(flow.active, extremes)):
            proof = cancels(extremes, items, flow, outputs)
            if proof is not None:
                yield proof


def cancels(
    extremes: Sequence[Reduce],
    items: Iterable[Item],
    flow: Flow,
    outputs: Collection[Symbol],
) -> Cancelled | None:
    """Proof that no output depends on these extremes, which are alike. No value goes through memory: what is
    written and read is refused before (forward.py).
    """
    shift = Shift(extremes, any(element_of(extreme.type) == DOUBLE for extreme in extremes), {})
    return Cancelled(tuple(extremes)) if shift.leaves(items, flow, outputs) else None


def _groups(items: Iterable[Item]) -> list[list[Reduce]]:
    """Extremes that are the same value: alike, and computed from variables alone. In single assignment a variable
    that both read has one value wherever both are evaluated. A loop may be around one of them only: its iterations
    then count as if each had a d of its own, which asks for more.
    """
    groups: list[list[Reduce]] = []
    for node in nodes_of(every(items), Reduce):
        if node.operator in ("max", "min"):
            for alike in groups:
                if not has_memory(node) and same(node, alike[0]):
                    alike.append(node)
                    break
            else:
                groups.append([node])
    return groups


# ---------------------------------------------------------------- how values grow with d


@record
class Drift:
    """``+``: value + by * d; ``*``: value * exp(by * d). ``0``: zero, which grows like any product; ``inf``:
    infinite, which grows like any sum. ``axes``: that of the value for each axis of d.
    """

    kind: str
    by: float = 0.0
    axes: tuple[int, ...] = ()


FIXED: Final = Drift("+")
_ZERO: Final = Drift("0")
_INFINITE: Final = Drift("inf")
_STILL: Final = (FIXED, _ZERO, _INFINITE)
LN2: Final = 0.6931471805599453


Singular = Mapping[Symbol, float]


def regular(choice: Select, singular: Singular) -> Expr | None:
    """What is chosen where no variable has its singular value, if the condition asks whether one has."""
    match choice.condition:
        case Binary(operator="==" | "!=" | ">" as operator, left=Name(symbol=symbol), right=right):
            if symbol in singular and constant(right) == singular[symbol]:
                return choice.no if operator == "==" else choice.yes
    return None


class Shift:
    """Changes of values if d is added to some extremes; None where unknown. Each iteration of a loop that evaluates
    them has another d. ``double``: their type. ``singular``: values of variables for which nothing
    changes, so what is taken only then does not count.
    """

    def __init__(self, shifted: Collection[Expr], double: bool, singular: Singular) -> None:
        self.shifted = shifted
        self._singular = singular
        self._digits = 12 if double else 6  # 1.442695 is 1 / ln 2: to as many digits as the type has
        self.written: dict[Write, Drift | None] = {}
        self._added = False  # whether d was added in the statements of the innermost loop so far
        self.grown: dict[Symbol, Drift | None] = {}

    def move(self, symbol: Symbol) -> None:
        """Add d to a variable."""
        self.grown[symbol] = _d_of(symbol.type)

    def leaves(self, items: Iterable[Item], flow: Flow, outputs: Collection[Symbol]) -> bool:
        """Whether no output of these statements changes."""
        self.follow(items)
        writes = [write for write in flow.writes() if not flow.roots(write.pointer).isdisjoint(outputs)]
        return all(self.written.get(write) == FIXED for write in writes)

    def follow(self, items: Iterable[Item]) -> None:
        """Go through the statements."""
        for item in items:
            match item:
                case Define(symbol=symbol, value=value):
                    self.grown[symbol] = None if value is None else self.of(value)
                case Write(pointer=pointer, value=value, mask=mask):
                    fixed = self.of(pointer) == FIXED and (mask is None or self.of(mask) == FIXED)
                    grown = self.of(value)
                    self.written[item] = (FIXED if grown in _STILL else grown) if fixed else None
                case Loop():
                    self._follow_loop(item)
                case Branch():
                    self.follow((*item.then, *item.otherwise))
                    for merge in item.merges:
                        arms = (self.grown.get(arm, FIXED) for arm in (merge.yes, merge.no))
                        joined = _joined(*arms) if self.of(item.condition) == FIXED else None
                        self.grown[merge.after] = joined

    def _follow_loop(self, loop: Loop) -> None:
        """Where d is added in an iteration, each has one of its own, and carried values must not change."""
        inside = {carry.inside: self.of(carry.before) for carry in loop.carried}
        before, self._added = self._added, False
        while True:
            self.grown.update(inside)
            self.follow(loop.body)
            fixed = loop.condition is None or self.of(loop.condition) == FIXED
            ends: dict[Symbol, Drift | None] = {}
            for carry in loop.carried:
                joined = _joined(inside[carry.inside], self.grown.get(carry.last, FIXED))
                ends[carry.inside] = joined if fixed and (not self._added or joined in _STILL) else None
            if ends == inside:
                break
            inside = ends  # each becomes less known
        self.grown.update({carry.after: inside[carry.inside] for carry in loop.carried})
        self._added |= before

    def of(self, expr: Expr, shape: tuple[int, ...] | None = None) -> Drift | None:
        """How an expression grows; repeated to a shape."""
        grown = self._of(expr)
        if grown is None or grown in _STILL:
            return grown
        by = float(f"{grown.by:.{self._digits}g}")
        grown = Drift(grown.kind, by, grown.axes) if by else FIXED
        return grown if shape is None else _moved(grown, repeated_axes(shape_of(expr.type), shape))

    def _of(self, expr: Expr) -> Drift | None:
        if expr in self.shifted:
            self._added = True
            return _d_of(expr.type)
        match expr:
            case Name(symbol=symbol):
                return self.grown.get(symbol, FIXED)
            case Literal(value=value) if is_floating(expr.type):
                return _ZERO if value == 0 else _INFINITE if math.isinf(value) else FIXED
            case Unary(operator="-", operand=operand):
                grown = self.of(operand)
                negative = grown is not None and grown.kind == "+"
                return Drift("+", -grown.by, grown.axes) if grown and negative else grown
            case Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
                return self._binary(operator, left, right, shape_of(expr.type))
            case Select() if (arm := regular(expr, self._singular)) is not None:
                return self.of(arm, shape_of(expr.type))
            case Select(condition=condition, yes=yes, no=no):
                if self.of(condition) != FIXED:
                    return None
                return _joined(*(self.of(arm, shape_of(expr.type)) for arm in (yes, no)))
            case Broadcast() | Expand() | Permute() | Reshape():
                return _moved(self.of(expr.operand), moved_axes(expr))
            case Cast(operand=operand) if converts_floats(expr):
                return self.of(operand, shape_of(expr.type))
            case Cast() if constant(expr) == 0:
                return _ZERO
            case Reduce():
                return _reduced(self.of(expr.operand), expr)
            case Dot(left=left, right=right, accumulator=None):
                return _contracted(self.of(left), self.of(right), len(shape_of(expr.type)))
            case Call(function=function, arguments=(argument,)):
                return _called(function, self.of(argument))
            case _:
                return FIXED if all(self.of(part) in _STILL for part in children(expr)) else None

    def _binary(self, operator: str, left: Expr, right: Expr, shape: tuple[int, ...]) -> Drift | None:
        first, second = self.of(left, shape), self.of(right, shape)
        if first is None or second is None:
            return None
        if operator in "+-":
            return _sum(first, second, 1 if operator == "+" else -1)
        if first == _ZERO or (second == _ZERO and operator == "*"):
            return _ZERO
        if operator == "*" and first == FIXED and second.kind == "+":
            first, second, left, right = second, first, right, left
        if first.kind == "+" and first != FIXED and second == FIXED:
            factor = constant(right)
            if not isinstance(factor, int | float) or not factor:
                return None
            return Drift("+", first.by * factor if operator == "*" else first.by / factor, first.axes)
        if not (_is_product(first) and _is_product(second)):
            return None
        return _total("*", first, second, 1 if operator == "*" else -1)


def _d_of(type_: Type) -> Drift:
    """d itself, which has an element for each of a value."""
    return Drift("+", 1.0, tuple(axis for axis, size in enumerate(shape_of(type_)) if size != 1))


def _is_product(grown: Drift) -> bool:
    return grown == FIXED or grown.kind == "*"


def _total(kind: str, left: Drift, right: Drift, sign: int) -> Drift | None:
    """The growth of both together; None where they grow with other elements of d."""
    if FIXED not in (left, right) and left.axes != right.axes:
        return None
    by = left.by + sign * right.by
    return Drift(kind, by, left.axes or right.axes) if by else FIXED


def _sum(left: Drift, right: Drift, sign: int) -> Drift | None:
    if left.kind == right.kind == "+":
        return _total("+", left, right, sign)
    return _joined(left, right)


def _joined(left: Drift | None, right: Drift | None) -> Drift | None:
    """The growth that both have."""
    if left in _STILL and right in _STILL:
        return left if left == right else FIXED
    for growth, other in ((left, right), (right, left)):
        if growth == other or (growth == _ZERO and other is not None and other.kind == "*"):
            return other
        if growth == _INFINITE and other is not None and other.kind == "+":
            return other
    return None


def _moved(grown: Drift | None, places: Axes | None) -> Drift | None:
    """The same elements at other places."""
    if grown is None or not grown.axes:
        return grown
    moved = [None if places is None else places[axis] for axis in grown.axes]
    kept = tuple(axis for axis in moved if axis is not None)
    return Drift(grown.kind, grown.by, kept) if len(kept) == len(moved) else None


def _reduced(grown: Drift | None, expr: Reduce) -> Drift | None:
    """A reduction over an axis along which d changes mixes its elements."""
    if grown is None or grown in _STILL:
        return grown
    if expr.axis in grown.axes:
        return None
    kept = tuple(axis - (axis > expr.axis) for axis in grown.axes)
    many = shape_of(expr.operand.type)[expr.axis] if expr.operator == grown.kind == "+" else 1
    return Drift(grown.kind, grown.by * many, kept)


def _contracted(left: Drift | None, right: Drift | None, rank: int) -> Drift | None:
    """Of a product of blocks, one of which grows, along an axis that the product has."""
    for grown, other, summed in ((left, right, rank - 1), (right, left, rank - 2)):
        if other == FIXED and grown is not None and summed not in grown.axes:
            return FIXED if grown in _STILL else grown if grown.kind == "*" else None
    return None


_CALLED: Final = {  # the kind of the argument, the kind of the result, and what d is multiplied by
    "exp": ("+", "*", 1.0),
    "exp2": ("+", "*", LN2),
    "log": ("*", "+", 1.0),
    "log2": ("*", "+", 1 / LN2),
    "sqrt": ("*", "*", 0.5),
    "rsqrt": ("*", "*", -0.5),
}


def _called(function: str, grown: Drift | None) -> Drift | None:
    if grown is None or grown in _STILL:
        return grown and FIXED
    of, to, factor = _CALLED.get(function, ("", "", 0.0))
    return Drift(to, grown.by * factor, grown.axes) if grown.kind == of else None
