"""Activity and pointer analysis of a graph.

A value is *active* if a floating input reaches it by operations with a derivative: not through comparisons,
integers, ``floor`` or ``ceil``. The *roots* of a pointer are the parameters that it is computed from; None is
memory that holds pointers.

The largest element of a row that is subtracted so that nothing overflows cancels out of a softmax. So nothing
flows through it: ``_Shift`` adds d to it, and follows what becomes ``value + a * d``, and what
``value * exp(m * d)``. Where no output changes, the derivative by it is zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from pytriton.gradient.derive.graph import Branch, Define, Item, Loop, Write
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Bitcast,
    Broadcast,
    Call,
    Cast,
    Expand,
    Expr,
    Literal,
    Load,
    Name,
    Permute,
    Reduce,
    Reshape,
    Select,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import DOUBLE, PointerType, ScalarType, element_of, shape_of
from pytriton.lang.tree.walk import children, same, walk

_FLAT = frozenset(("floor", "ceil", "program_id", "num_programs"))


def is_floating(type_: object) -> bool:
    """Whether these are floating numbers."""
    element = element_of(type_)  # type: ignore[arg-type]
    return isinstance(element, ScalarType) and element.is_float


def every(items: Iterable[Item]) -> Iterator[Item]:
    """All items, those of inner blocks after the one that holds them."""
    for item in items:
        yield item
        if isinstance(item, Loop):
            yield from every(item.body)
        elif isinstance(item, Branch):
            yield from every(item.then)
            yield from every(item.otherwise)


def expressions_of(item: Item) -> Iterator[Expr]:
    """The outermost expressions of an item, not those inside its blocks; of a branch, what it merges."""
    match item:
        case Define(value=value):
            if value is not None:
                yield value
        case Write(pointer=pointer, value=value, mask=mask):
            yield from (pointer, value)
            if mask is not None:
                yield mask
        case Loop(carried=carried, condition=condition):
            yield from (each.before for each in carried)
            if condition is not None:
                yield condition
        case Branch(condition=condition, merges=merges):
            yield condition
            for each in (symbol for merge in merges for symbol in (merge.yes, merge.no)):
                yield Name(item.statement.span, each.type, each)


class Flow:
    """Of one graph. ``inputs``: the parameters whose gradients are derived; ``outputs``: those with cotangents."""

    def __init__(
        self,
        items: list[Item],
        parameters: Iterable[Symbol],
        inputs: Collection[Symbol],
        outputs: Collection[Symbol] = (),
    ) -> None:
        self._roots: dict[Symbol, frozenset[Symbol | None]] = {}
        for symbol in parameters:
            if isinstance(symbol.type, PointerType):
                self._roots[symbol] = frozenset((symbol,))
        self.inputs = inputs
        self._active: set[Symbol] = set()
        self._cast: set[Symbol] = set()  # pointers
        self._all = list(every(items))
        self._cancelled: set[Expr] = set()
        before = -1
        while before != (before := len(self._active) + len(self._cast) + sum(map(len, self._roots.values()))):
            for item in self._all:
                self._follow(item)
        self._cancelled = self._cancelling(items, outputs)
        if self._cancelled:
            self._active.clear()
            for _ in self._all:  # once more, without what cancels out
                count = len(self._active)
                for item in self._all:
                    self._follow(item)
                if len(self._active) == count:
                    break

    def _cancelling(self, items: list[Item], outputs: Collection[Symbol]) -> set[Expr]:
        """The largest and least elements that no output depends on."""
        nodes = [node for expr in self.expressions() for node in walk(expr)]
        extremes = [node for node in nodes if isinstance(node, Reduce) and node.operator in ("max", "min")]
        found: set[Expr] = set()
        for node in extremes:
            alike = [other for other in extremes if same(node, other)]
            if node not in found and outputs and self.active(node):
                shift = _Shift(alike)
                shift.follow(items)
                writes = [w for w in self.writes() if not self.roots(w.pointer).isdisjoint(outputs)]
                if all(shift.written.get(write) == _FIXED for write in writes):
                    found.update(alike)
        return found

    def _follow(self, item: Item) -> None:
        if isinstance(item, Define) and item.value is not None:
            self._join(item.symbol, item.value)
        elif isinstance(item, Loop):
            for each in item.carried:
                last = Name(item.statement.span, each.last.type, each.last)
                for value in (each.before, last):
                    self._join(each.inside, value)
                    self._join(each.after, value)
        elif isinstance(item, Branch):
            for merge in item.merges:
                for arm in (merge.yes, merge.no):
                    self._join(merge.after, Name(item.statement.span, arm.type, arm))

    def _join(self, symbol: Symbol, value: Expr) -> None:
        if isinstance(element_of(symbol.type), PointerType):
            self._roots[symbol] = self._roots.get(symbol, frozenset()) | self.roots(value)
            if self.reinterpreted(value):
                self._cast.add(symbol)
        elif self.active(value):
            self._active.add(symbol)

    def roots(self, pointer: Expr) -> frozenset[Symbol | None]:
        """The parameters that a pointer may come from."""
        match pointer:
            case Name(symbol=symbol):
                return self._roots.get(symbol, frozenset())
            case Load():
                return frozenset((None,))
            case Select(yes=yes, no=no):
                return self.roots(yes) | self.roots(no)
            case Binary(left=left):
                return self.roots(left)
            case Cast(operand=operand) if not _is_pointer(operand):
                return frozenset((None,))
            case _:
                return frozenset().union(*map(self.roots, children(pointer)))

    def reinterpreted(self, pointer: Expr) -> bool:
        """Whether a pointer was cast to another element type on its way."""
        if isinstance(pointer, Cast | Bitcast):
            return True
        if isinstance(pointer, Name):
            return pointer.symbol in self._cast
        pointers = [part for part in children(pointer) if isinstance(element_of(part.type), PointerType)]
        return any(map(self.reinterpreted, pointers))

    def active(self, expr: Expr) -> bool:
        """Whether a change of an input can change the value smoothly."""
        if not is_floating(expr.type):
            return False
        match expr:
            case Name(symbol=symbol):
                return symbol in self._active
            case Load(pointer=pointer, other=other):
                if other is not None and self.active(other):
                    return True
                return not self.roots(pointer).isdisjoint(self.inputs)
            case Select(yes=yes, no=no):
                return self.active(yes) or self.active(no)
            case Reduce() if expr in self._cancelled:
                return False
            case Call(function=function) if function in _FLAT:
                return False
            case _:
                return any(map(self.active, children(expr)))

    def loads(self) -> list[Load]:
        """Every load of the kernel."""
        return [node for expr in self.expressions() for node in walk(expr) if isinstance(node, Load)]

    def expressions(self) -> Iterator[Expr]:
        """Every outermost expression of the kernel."""
        for item in self._all:
            yield from expressions_of(item)

    def writes(self) -> list[Write]:
        """Every store and atomic of the kernel."""
        return [item for item in self._all if isinstance(item, Write)]

    def parameters_written(self) -> set[Symbol]:
        """The parameters through which memory is written."""
        roots = {root for write in self.writes() for root in self.roots(write.pointer)}
        return {root for root in roots if root is not None}

    def programs(self) -> set[int]:
        """The axes along which the kernel reads its program id."""
        axes: set[int] = set()
        for node in (node for expr in self.expressions() for node in walk(expr)):
            if isinstance(node, Call) and node.function == "program_id":
                (axis,) = node.arguments
                if isinstance(axis, Literal):
                    axes.add(int(axis.value))
        return axes


def _is_pointer(expr: Expr) -> bool:
    return isinstance(element_of(expr.type), PointerType)


# ---------------------------------------------------------------- what cancels out

_Growth = tuple[str, float]  # ("+", a): value + a * d; ("*", m): value * exp(m * d)
_FIXED: Final = ("+", 0.0)
_ZERO: Final = ("0", 0.0)  # zero, which grows like any product
_INFINITE: Final = ("inf", 0.0)  # infinite, which grows like any sum
_LN2: Final = 0.6931471805599453


class _Shift:
    """What becomes of values if d is added to some expressions; None where that is not known."""

    def __init__(self, shifted: Collection[Expr]) -> None:
        self.shifted = shifted
        # 1.442695 is 1 / ln 2: to as many digits as the type has
        self._digits = 12 if any(element_of(each.type) == DOUBLE for each in shifted) else 6
        self.written: dict[Write, _Growth | None] = {}
        self._grown: dict[Symbol, _Growth | None] = {}

    def follow(self, items: Iterable[Item]) -> None:
        """Go through the statements."""
        for item in items:
            match item:
                case Define(symbol=symbol, value=value):
                    self._grown[symbol] = None if value is None else self.of(value)
                case Write(pointer=pointer, value=value, mask=mask):
                    fixed = self.of(pointer) == _FIXED and (mask is None or self.of(mask) == _FIXED)
                    grown = self.of(value)
                    self.written[item] = (_FIXED if grown in (_ZERO, _INFINITE) else grown) if fixed else None
                case Loop():
                    self._loop(item)
                case Branch():
                    self.follow(item.then)
                    self.follow(item.otherwise)
                    for merge in item.merges:
                        arms = (self._grown.get(each, _FIXED) for each in (merge.yes, merge.no))
                        joined = _joined(*arms) if self.of(item.condition) == _FIXED else None
                        self._grown[merge.after] = joined

    def _loop(self, loop: Loop) -> None:
        inside = {each: self.of(each.before) for each in loop.carried}
        for _ in range(3):
            self._grown.update({each.inside: grown for each, grown in inside.items()})
            self.follow(loop.body)
            fixed = loop.condition is None or self.of(loop.condition) == _FIXED
            ends = {
                each: _joined(inside[each], self._grown.get(each.last, _FIXED)) if fixed else None
                for each in loop.carried
            }
            if ends == inside:
                break
            inside = ends
        else:
            inside = dict.fromkeys(inside)
            self._grown.update({each.inside: None for each in inside})
            self.follow(loop.body)
        self._grown.update({each.after: grown for each, grown in inside.items()})

    def of(self, expr: Expr) -> _Growth | None:
        """How an expression grows."""
        grown = self._of(expr)
        return None if grown is None else (grown[0], float(f"{grown[1]:.{self._digits}g}"))

    def _of(self, expr: Expr) -> _Growth | None:
        if expr in self.shifted:
            return "+", 1.0
        match expr:
            case Name(symbol=symbol):
                return self._grown.get(symbol, _FIXED)
            case Literal(value=value) if is_floating(expr.type):
                return _ZERO if value == 0 else _INFINITE if math.isinf(value) else _FIXED
            case Load(pointer=pointer, mask=mask, other=other):
                parts = [self.of(part) for part in (pointer, mask, other) if part is not None]
                return _FIXED if all(part in (_FIXED, _ZERO, _INFINITE) for part in parts) else None
            case Unary(operator="-", operand=operand):
                grown = self.of(operand)
                return ("+", -grown[1]) if grown is not None and grown[0] == "+" else grown
            case Binary(operator="+" | "-" | "*" | "/" as operator, left=left, right=right):
                return self._binary(operator, left, right)
            case Select(condition=condition, yes=yes, no=no):
                return _joined(self.of(yes), self.of(no)) if self.of(condition) == _FIXED else None
            case Broadcast() | Expand() | Permute() | Reshape():
                return self.of(expr.operand)
            case Cast(operand=operand) if is_floating(expr.type) and is_floating(operand.type):
                return self.of(operand)
            case Cast() if constant(expr) == 0:
                return _ZERO
            case Reduce(operator=operator, operand=operand, axis=axis):
                grown = self.of(operand)
                if operator == "+" and grown is not None and grown[0] == "+":
                    return "+", grown[1] * shape_of(operand.type)[axis]
                return grown if operator in ("+", "max", "min") else None
            case Call(function=function, arguments=(argument,)):
                return _called(function, self.of(argument))
            case _:
                parts = [self.of(part) for part in children(expr)]
                return _FIXED if all(part in (_FIXED, _ZERO, _INFINITE) for part in parts) else None

    def _binary(self, operator: str, left: Expr, right: Expr) -> _Growth | None:
        first, second = self.of(left), self.of(right)
        if first is None or second is None:
            return None
        if operator in "+-":
            if _ZERO in (first, second) or first[0] == second[0] == "*":
                return _joined(first, second)
            if _INFINITE in (first, second):
                return _joined(first, second)
            sums = first[0] == second[0] == "+"
            return ("+", first[1] + (second[1] if operator == "+" else -second[1])) if sums else None
        if first == _ZERO or (second == _ZERO and operator == "*"):
            return _ZERO
        products = [_as_product(first), _as_product(second)]
        if None not in products:
            sign = 1 if operator == "*" else -1
            grown = products[0] + sign * products[1]  # type: ignore[operator]
            return ("*", grown) if grown else _FIXED
        factor = constant(right)
        if first[0] == "+" and second == _FIXED and isinstance(factor, int | float) and factor:
            return "+", first[1] * factor if operator == "*" else first[1] / factor
        return None


def _as_product(grown: _Growth) -> float | None:
    return 0.0 if grown == _FIXED else grown[1] if grown[0] == "*" else None


def _joined(left: _Growth | None, right: _Growth | None) -> _Growth | None:
    """What grows like both."""
    for one, other in ((left, right), (right, left)):
        if one == other or (one == _ZERO and other is not None and (other[0] == "*" or other == _FIXED)):
            return other
        if one == _INFINITE and other is not None and other[0] == "+":
            return other
    return None


def _called(function: str, grown: _Growth | None) -> _Growth | None:
    if grown is None or grown in (_FIXED, _ZERO, _INFINITE):
        return grown if grown is None else _FIXED
    kind, by = grown
    match function, kind:
        case "exp", "+":
            return "*", by
        case "exp2", "+":
            return "*", by * _LN2
        case "log", "*":
            return "+", by
        case "log2", "*":
            return "+", by / _LN2
        case "sqrt", "*":
            return "*", by / 2
        case "rsqrt", "*":
            return "*", -by / 2
        case _:
            return None
