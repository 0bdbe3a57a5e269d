"""The products of a loop over programs, arranged so that only the block between them changes in registers.

A walk owns a block of keys, and multiplies in each iteration what it has with what it loads (attention):

    k = checkn[:, newaxis] ? shared_k : 0;    ->    s = checkn[:, newaxis] ? shared_k @ ^q : 0;
    s = q @ ^k;
    p = exp(s - m[:, newaxis]);                     p = exp(s - m[newaxis, :]);
    d_v += checkn[:, newaxis] ? ^p @ d_o : 0; ->    d_v += (checkn[:, newaxis] ? p : 0) @ d_o;

Operands that stay the same are put into shared memory once, sums stay where the tensor cores leave them, and a left
operand is taken from registers as it was computed. Each of these would go through shared memory in each iteration.

Three rewrites, each of the statements of one loop:

* a mask of rows moves from an operand that the loop does not change to the rows of the product;
* a mask of rows moves from a product to the rows of its left operand;
* blocks of two axes that are multiplied only as ``^p @ x`` are computed transposed, with all that they are computed
  from by operations on elements, up to products: ``^(a @ ^b)`` is ``b @ ^a``.

They are equalities where all numbers are finite. Where one is not, a product had 0 * inf in masked rows, and has it
in the other operand's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.gradient.derive.graph import replaced
from pytriton.lang.tree.convert import constant
from pytriton.lang.tree.typed import (
    Binary,
    Body,
    Broadcast,
    Call,
    Cast,
    Declare,
    Dot,
    Expand,
    Expr,
    For,
    Name,
    Permute,
    Select,
    Statement,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import Type, element_of, shape_of, with_element
from pytriton.lang.tree.walk import (
    assigned,
    children,
    map_statements,
    with_children,
    with_expressions,
)
from pytriton.passes.analysis.queries import nodes

TURNED = (1, 0)


def arranged(body: Body) -> Body:
    """The statements with their loops arranged."""

    def loop(statement: Statement) -> Body:
        if isinstance(statement, For):
            inside = _turned(_without_masked_operands(statement.body))
            statement = replace(statement, body=_without_masked_sums(inside))
        return (statement,)

    return map_statements(body, loop)


def _declared(body: Body) -> dict[Symbol, Declare]:
    """The variables of an iteration."""
    return {s.symbol: s for s in body if isinstance(s, Declare) and s.value is not None}


def _uses(body: Body, symbol: Symbol) -> int:
    """How often a variable is read."""
    return sum(node.symbol is symbol for node in nodes(body, Name))


def _without(body: Body, statement: Statement, change: Mapping[Expr, Expr]) -> Body:
    """The statements without one of them, and with other expressions."""
    kept = (other for other in body if other is not statement)
    return tuple(with_expressions(other, lambda expr: replaced(expr, change)) for other in kept)


# ---------------------------------------------------------------- masks of rows


def _masked(expr: Expr | None) -> tuple[Expr, Expr] | None:
    """The mask of rows and the value, of ``mask[:, newaxis] ? value : 0``."""
    match expr:
        case Select(condition=condition, yes=yes, no=no) if constant(_plain(no)) == 0:
            rows = f.unexpanded(_plain(condition), (1,))
            return None if rows is None else (rows, yes)
    return None


def _plain(expr: Expr) -> Expr:
    return f.inside(expr, Broadcast, Cast)


def _without_masked_operands(body: Body) -> Body:
    """Masks of rows after the products, where the loop does not change what they are of."""
    changes = assigned(body)
    for symbol, statement in _declared(body).items():
        masked = _masked(statement.value)
        if masked is None or f.variable(masked[1]) is None or f.variable(masked[1]) in changes:
            continue
        products = dict(_products_of(body, symbol, *masked))
        if len(products) == _uses(body, symbol):
            body = _without(body, statement, products)
    return body


def _products_of(body: Body, symbol: Symbol, rows: Expr, value: Expr) -> Iterator[tuple[Expr, Expr]]:
    """The products that take a block by its rows, each with what it is of this value, with masked rows."""
    for product in _products(body):
        left, right = f.variable(product.left) is symbol, _transposed(product.right) is symbol
        if left is not right:
            changed = (
                replace(product, left=value) if left else replace(product, right=f.permuted(value, TURNED))
            )
            yield product, f.select(f.expanded(rows, [not left, left]), changed, f.number(0))


def _products(body: Body) -> Iterator[Dot]:
    return (node for node in nodes(body, Dot) if node.accumulator is None)


def _transposed(expr: Expr) -> Symbol | None:
    """The variable x of ``^x``, of any floating type."""
    return _variable(expr.operand) if isinstance(expr, Permute) and expr.order == TURNED else None


def _variable(expr: Expr) -> Symbol | None:
    return f.variable(_plain(expr))


def _without_masked_sums(body: Body) -> Body:
    """Masks of rows at the left operands of products."""
    for symbol, statement in _declared(body).items():
        if not isinstance(statement.value, Dot) or _uses(body, symbol) != 1:
            continue
        for node in nodes(body, Select):
            masked = _masked(node)
            if masked is not None and f.variable(masked[1]) is symbol:
                left = f.select(f.expanded(masked[0], [False, True]), statement.value.left, f.number(0))
                body = _without(body, statement, {node: replace(statement.value, left=left)})
                break
    return body


# ---------------------------------------------------------------- transposed blocks


def _turned(body: Body) -> Body:
    """The statements with transposed blocks."""
    new = {symbol: replace(symbol, type=_turned_type(symbol.type)) for symbol in _to_turn(body)}

    def changed(expr: Expr) -> Expr:
        """With left operands ``^p`` as they are computed now."""
        if isinstance(expr, Permute) and _transposed(expr) in new:
            return _turn(expr.operand, new)
        return with_children(expr, changed)

    def statement(old: Statement) -> Statement:
        if isinstance(old, Declare) and old.symbol in new and old.value is not None:
            return replace(old, symbol=new[old.symbol], value=_turn(old.value, new))
        return with_expressions(old, changed)

    return tuple(map(statement, body)) if new else body


def _turned_type(type_: Type) -> Any:
    return with_element(element_of(type_), shape_of(type_)[::-1])


def _to_turn(body: Body) -> Collection[Symbol]:
    """The blocks that are computed from each other by elements, if they are multiplied only as ``^p @ x``."""
    values = {s: d.value for s, d in _declared(body).items() if d.value and len(shape_of(s.type)) == 2}
    elements = {symbol: [s for s in _elements(value) if s in values] for symbol, value in values.items()}
    taken = [symbol for product in _products(body) if (symbol := _transposed(product.left)) in values]
    group = set(taken)
    while True:
        size = len(group)
        for symbol, read in elements.items():
            if symbol in group or not group.isdisjoint(read):
                group |= {symbol, *read}
        if len(group) == size:
            break
    if not all(_can_turn(values[symbol], group) for symbol in group):
        return ()
    for symbol in group:
        expected = taken.count(symbol) + sum(elements[other].count(symbol) for other in group)
        if _uses(body, symbol) != expected:
            return ()
    return group


def _elements(expr: Expr) -> Iterator[Symbol]:
    """The variables that an expression takes by elements, once for each time."""
    if isinstance(expr, Name):
        yield expr.symbol
    elif isinstance(expr, Binary | Unary | Select | Cast | Call | Broadcast):
        for part in children(expr):
            yield from _elements(part)


def _can_turn(expr: Expr, group: Collection[Symbol]) -> bool:
    """Whether an expression has a transposed form over transposed blocks."""
    match expr:
        case _ if not shape_of(expr.type):
            return True
        case Name(symbol=symbol):
            return symbol in group
        case Expand(operand=operand):
            return len(shape_of(operand.type)) == 1
        case Dot(accumulator=None):
            return True
        case Binary() | Unary() | Select() | Cast() | Call() | Broadcast():
            return all(_can_turn(part, group) for part in children(expr))
    return False


def _turn(expr: Expr, new: Mapping[Symbol, Symbol]) -> Expr:
    """The transposed form."""
    match expr:
        case _ if not shape_of(expr.type):
            return expr
        case Name(symbol=symbol):
            return replace(expr, symbol=new[symbol], type=new[symbol].type)
        case Expand():
            return replace(expr, axes=expr.axes[::-1], type=_turned_type(expr.type))
        case Dot(left=left, right=right):
            left, right = f.permuted(right, TURNED), f.permuted(left, TURNED)
            return replace(expr, left=left, right=right, type=_turned_type(expr.type))
    return replace(with_children(expr, lambda part: _turn(part, new)), type=_turned_type(expr.type))
