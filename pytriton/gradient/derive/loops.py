"""Analysis of loops: sums, and the value that a loop carries into one of its iterations.

``in_iteration``: integers and pointers to which each iteration adds the same are the start and so many increments.
Pointers are those of indices that begin there, where the source has them: ``rk = step * TK + 0 ... TK``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytriton.frozen import record, replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.active import unrounded
from pytriton.gradient.derive.graph import (
    Carried,
    Define,
    Item,
    Loop,
    Values,
    defined_in,
    every,
    inlined,
    nodes_of,
    values_in,
)
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Cast,
    Constexpr,
    Expand,
    Expr,
    Literal,
    Name,
    Range,
    Remark,
    Symbol,
)
from pytriton.lang.tree.types import (
    LONG,
    PointerType,
    ScalarType,
    element_of,
    shape_of,
)
from pytriton.lang.tree.walk import has_memory, names, rebuild, same


def _used(items: list[Item]) -> Counter[Symbol]:
    """How often each variable is read."""
    count = Counter(node.symbol for node in nodes_of(every(items), Name))
    count.update(carry.last for loop in loops_of(every(items)) for carry in loop.carried)
    return count


def loops_of(items: Iterable[Item]) -> list[Loop]:
    """The loops among these statements."""
    return [item for item in items if isinstance(item, Loop)]


@record
class OnlyAdds:
    """Proof that each iteration of a loop only adds to its carried values that have a cotangent. So this
    cotangent is the same in all iterations: they may run in any order, or become programs.
    """

    loop: Loop


def only_adds(loop: Loop, active: Iterable[Carried]) -> OnlyAdds | None:
    """Proof that these carried values of a loop are sums, which no other of its values depends on."""
    return OnlyAdds(loop) if all(is_sum(carry, loop) for carry in active) else None


def is_sum(carry: Carried, loop: Loop) -> bool:
    """Whether an iteration only adds to a carried value, and does not read it otherwise."""
    values = values_in(loop.body)
    used = _used(loop.body)
    used[carry.last] += 1  # here
    expr: Expr | None = f.named(carry.last)
    while True:
        match None if expr is None else unrounded(expr):
            case Name(symbol=symbol):
                used[symbol] -= 1
                if used[symbol] > 0:
                    return False
                if symbol is carry.inside:
                    return True
                expr = values.get(symbol)
            case Binary(operator="+" | "-" as operator, left=left, right=right):
                sides = [left, right] if operator == "+" else [left]
                leading = [
                    side for side in sides if carry.inside in names(inlined(side, values, {carry.inside}))
                ]
                if not leading:
                    return False
                expr = leading[0]
            case _:
                return False


# ---------------------------------------------------------------- one iteration


def in_iteration(
    carry: Carried,
    loop: Loop,
    step: Name,
    values: Values,
    moved: dict[tuple[Symbol, Expr], Define],
) -> Expr | None:
    """The carried value in iteration ``step``: the start and so many increments; None where it has another form."""
    if carry.last is carry.inside:
        return carry.before
    element = element_of(carry.inside.type)
    increments = increments_of(carry, loop)
    if not increments or not isinstance(element, PointerType | ScalarType):
        return None
    if isinstance(element, PointerType) and isinstance(carry.before, Name) and len(increments) == 1:
        shifted = _shifted(values.get(carry.before.symbol), increments[0], step, values, moved)
        if shifted is not None:
            return shifted
    result = carry.before
    wide = LONG if isinstance(element, PointerType) else element
    for operator, right in reversed(increments):
        product = _times(right, step, wide)
        first = operator == "+" and isinstance(result, Literal) and result.value == 0
        result = product if first else f.binary(operator, result, product)
    return result


def increments_of(carry: Carried, loop: Loop) -> list[tuple[str, Expr]]:
    """The increments of a carried value in one iteration, the last first; none where they are unknown."""
    inner = values_in(loop.body)
    changing = {*defined_in(loop.body), *(c.inside for c in loop.carried if c.last is not c.inside)}
    element = element_of(carry.inside.type)
    whole = isinstance(element, PointerType) or (isinstance(element, ScalarType) and element.is_integer)
    increments: list[tuple[str, Expr]] = []
    at = carry.last
    while at is not carry.inside:
        value = inner.get(at)
        if not whole or not isinstance(value, Binary) or value.operator not in ("+", "-"):
            return []
        if not isinstance(value.left, Name) or has_memory(value.right):
            return []
        if not names(value.right).isdisjoint(changing):
            return []
        increments.append((value.operator, value.right))
        at = value.left.symbol
    return increments


def _shifted(
    start: Expr | None,
    increment: tuple[str, Expr],
    step: Name,
    values: Values,
    moved: dict[tuple[Symbol, Expr], Define],
) -> Expr | None:
    """Pointers in iteration ``step`` by indices that begin there: ``rk = step * TK + 0 ... TK``."""
    operator, by = increment
    by = by.operand if isinstance(by, Broadcast) else by
    if start is None or operator != "+":
        return None
    for symbol in sorted(names(start) & values.keys(), key=lambda symbol: symbol.name):
        indices = values[symbol]
        along = Growth(symbol, {}).of(start)
        if not isinstance(indices, Range) or along is None or along == 0:
            continue
        unit = isinstance(along, int) or constant(along) == 1
        tile = _quotient(by, None if isinstance(along, int) else along, unit)
        if not isinstance(tile, Constexpr | Literal):
            continue
        shifted = next(
            (define for (of, size), define in moved.items() if of is symbol and same(size, tile)), None
        )
        if shifted is None:
            value = f.binary("+", f.binary("*", step, tile), replace(indices))
            copy = replace(symbol)
            shifted = moved[symbol, tile] = Define(copy, value, Remark(step.span))
        new = f.named(shifted.symbol)
        # an offset may be large though the index is not
        return rebuild(start, {symbol: new if unit else f.cast(new, LONG)})
    return None


def _quotient(by: Expr, along: Expr | None, unit: bool) -> Expr | None:
    if isinstance(by, Binary) and by.operator == "*" and along is not None:
        for factor, other in ((by.left, by.right), (by.right, by.left)):
            if same(other, along):
                return factor
    return by if unit else None


def _times(expr: Expr, step: Name, element: ScalarType) -> Expr:
    """An increment times the number of an iteration, in a type that holds it."""
    inner = f.inside(expr, Broadcast)
    factor = f.cast(step, element)  # written out: an offset may be large though the increment is not
    is_one = isinstance(inner, Literal) and inner.value == 1
    product = factor if is_one else f.binary("*", f.cast(inner, element), factor)
    return f.filled(product, shape_of(expr.type))


class Growth:
    """By how much expressions grow with an index: by a scalar, the same for all elements; None if by none."""

    def __init__(self, index: Symbol, definitions: Values, unknown: Iterable[Symbol] = ()) -> None:
        self.index, self.definitions, self._unknown = index, definitions, {*unknown}

    def of(self, expr: Expr) -> Expr | int | None:
        match expr:
            case Name(symbol=symbol):
                if symbol is self.index or symbol in self._unknown:
                    return 1 if symbol is self.index else None
                return self.of(self.definitions[symbol]) if symbol in self.definitions else 0
            case Binary(operator="+", left=left, right=right):
                return _added(self.of(left), self.of(right))
            case Binary(operator="-", left=left, right=right):
                return self.of(left) if self.of(right) == 0 else None
            case Binary(operator="*", left=left, right=right):
                for factor, other in ((left, right), (right, left)):
                    if self.of(other) == 0:
                        return _multiplied(self.of(factor), other)
                return None
            case Range(start=start):
                return self.of(start)
            case Broadcast(operand=operand) | Expand(operand=operand):
                return self.of(operand)
            case Cast(operand=operand) if str(element_of(expr.type)) in ("int", "long"):
                return self.of(operand)
            case _:
                grown = names(expr) & {self.index, *self.definitions, *self._unknown}
                return None if any(self.of(Name(expr.span, s.type, s)) != 0 for s in grown) else 0


def _added(left: Expr | int | None, right: Expr | int | None) -> Expr | int | None:
    if left is None or right is None:
        return None
    if left == 0:
        return right
    return left if right == 0 else None


def _multiplied(step: Expr | int | None, factor: Expr) -> Expr | int | None:
    if step is None or step == 0:
        return step
    while isinstance(factor, Broadcast | Cast) and factor.span == factor.operand.span:
        factor = factor.operand
    return None if shape_of(factor.type) or step != 1 else factor
