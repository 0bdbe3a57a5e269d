"""Walking and rebuilding the typed tree, for the passes.

Passes query the same nodes again and again; as nodes never change, what is below a small
expression, which symbols it reads and which kinds of nodes it has is kept with it (typed.py), and likewise with a
statement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from pytriton.frozen import replace
from pytriton.lang.recording import term_of
from pytriton.lang.tree import typed
from pytriton.lang.tree.typed import Body, Expr, Statement, Symbol

_E = TypeVar("_E", bound=Expr)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression, in source order."""
    optional, operands = _OPERANDS[expr.__class__]
    if not optional:
        return operands(expr)
    result: list[Expr] = []
    for value in operands(expr):
        if value.__class__ is tuple:
            result += value
        elif value is not None:
            result.append(value)
    return tuple(result)


def walk(expr: Expr) -> Sequence[Expr]:
    """The expression and everything below it, outermost first, in source order."""
    try:
        return (expr, *expr.below)
    except AttributeError:
        pass
    nodes: list[Expr] = []
    pending = [expr]
    while pending:
        node = pending.pop()
        nodes.append(node)
        optional, operands = _OPERANDS[node.__class__]
        pending += (children(node) if optional else operands(node))[::-1]
    if len(nodes) <= MAX_KNOWN_NODES:
        _set_below(expr, tuple(nodes[1:]))  # were it there itself, only the garbage collector would free it
    return nodes


def known_below(expr: Expr) -> tuple[Expr, ...] | None:
    """Everything below an expression, if it was collected before and is small."""
    try:
        return expr.below
    except AttributeError:
        return None


def names(expr: Expr) -> frozenset[Symbol]:
    """The symbols that an expression reads."""
    try:
        return expr.symbols
    except AttributeError:
        symbols = frozenset([node.symbol for node in walk(expr) if node.__class__ is typed.Name])
        _set_symbols(expr, symbols)
        return symbols


def kinds(expr: Expr) -> frozenset[type]:
    """The classes of the nodes of an expression."""
    try:
        return expr.kinds
    except AttributeError:
        classes = frozenset([node.__class__ for node in walk(expr)])
        _set_kinds(expr, classes)
        return classes


def rebuild(expr: Expr, change: dict[Symbol, Expr]) -> Expr:
    """The expression with symbols replaced; the same object where none occurs."""
    if expr.__class__ is typed.Name:
        return change.get(expr.symbol, expr)
    if not change:
        return expr
    return with_children(expr, lambda child: rebuild(child, change))


def with_children(expr: _E, change: Callable[[Expr], Expr]) -> _E:
    """The expression with its direct operands changed; the same object where none is."""
    content, places = _CONTENT[expr.__class__]
    values: list[Any] = list(content(expr))
    changed = False
    for place in places:
        before = values[place]
        if before is None:
            continue
        if before.__class__ is tuple:
            after: Any = tuple(map(change, before))
            changed = changed or not all(map(operator.is_, after, before))
        else:
            after = change(before)
            changed = changed or after is not before
        values[place] = after
    result: Any = expr.__class__(*values) if changed else expr
    return result  # type: ignore[no-any-return]


def bodies(statement: Statement) -> tuple[Body, ...]:
    """The blocks inside a statement."""
    inner = _INNER.get(statement.__class__)
    return () if inner is None else inner(statement)


def statements(body: Body) -> list[Statement]:
    """Every statement of a body, those of inner blocks after the one that holds them."""
    result: list[Statement] = []
    for statement in body:
        result.append(statement)
        if statement.__class__ in _INNER:
            for inner in bodies(statement):
                result += statements(inner)
    return result


def expressions(body: Body, *, deep: bool = True) -> list[Expr]:
    """Every outermost expression of the statements, in order; with ``deep``, of inner blocks too."""
    result: list[Expr] = []
    for statement in body:
        cls = statement.__class__
        for name in _STATEMENT_FIELDS[cls]:
            value = getattr(statement, name)
            if value is not None:
                result.append(value)
        if deep and cls in _INNER:
            for inner in _INNER[cls](statement):
                result += expressions(inner)
    return result


def reads(body: Body) -> set[Symbol]:
    """The symbols that the statements read, inner blocks included."""
    return _united(body, _get_reads)


def assigned(body: Body) -> set[Symbol]:
    """The symbols that the statements declare or assign, inner blocks included."""
    return _united(body, _get_sets)


def kinds_in(body: Body) -> set[type]:
    """The classes of expressions in the statements, inner blocks included."""
    return _united(body, _get_kinds)


def _united(body: Body, get: Callable[[typed.KnownInside], frozenset[Any]]) -> set[Any]:
    try:
        return set().union(*map(get, body))
    except AttributeError:
        return set().union(*map(get, map(inside, body)))


def inside(statement: Statement) -> typed.KnownInside:
    """The statement, once it is known what it reads, sets and has in it."""
    try:
        statement.kinds  # noqa: B018
    except AttributeError:
        pass
    else:
        return statement
    cls = statement.__class__
    own = [getattr(statement, name) for name in _STATEMENT_FIELDS[cls]]
    exprs = [expr for expr in own if expr is not None]
    sets = frozenset((statement.symbol,)) if cls in _ASSIGNING else _NOTHING  # type: ignore[union-attr]
    if cls not in _INNER and len(exprs) == 1:  # nearly all
        (expr,) = exprs
        _set_reads(statement, names(expr))
        _set_sets(statement, sets)
        _set_kinds_in(statement, kinds(expr))
        return statement
    parts = [inside(inner) for body in bodies(statement) for inner in body]
    _set_reads(statement, _NOTHING.union(*map(names, exprs), *[inner.reads for inner in parts]))
    _set_sets(statement, sets.union(*[inner.sets for inner in parts]))
    _set_kinds_in(statement, _NOTHING.union(*map(kinds, exprs), *[inner.kinds for inner in parts]))
    return statement


_EXPRESSIONS = ("Expr", "Expr | None", "tuple[Expr, ...]")


def _fields(node: type, *annotations: str) -> tuple[str, ...]:
    """The fields of a node class with one of these annotations."""
    return tuple(f.name for f in fields(node) if f.type in annotations)


def _getter(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gets these fields of a node, as a tuple."""
    if len(names) == 1:
        get = operator.attrgetter(*names)
        return lambda node: (get(node),)
    return operator.attrgetter(*names) if names else lambda _: ()


_ASSIGNING = (typed.Declare, typed.Assign, typed.RangeLoop)
_MEMORY = frozenset((typed.Load, typed.Atomic))
MAX_KNOWN_NODES = 64  # of an expression: nothing is kept for larger ones, which bounds the memory
_NOTHING: frozenset[Any] = frozenset()
set_bases, _set_below, _set_kinds, _set_symbols = (
    vars(typed.NodeFacts)[name].__set__ for name in typed.NodeFacts.__slots__
)
_get_kinds, _get_reads, _get_sets = map(operator.attrgetter, typed.KnownInside.__slots__)
_set_kinds_in, _set_reads, _set_sets = (
    vars(typed.KnownInside)[name].__set__ for name in typed.KnownInside.__slots__
)
_EXPR_FIELDS = {node: _fields(node, *_EXPRESSIONS) for node in Expr.__args__}
# Whether some operands may be absent, or are in a tuple; and what gets them.
_OPERANDS = {node: (names != _fields(node, "Expr"), _getter(names)) for node, names in _EXPR_FIELDS.items()}
_CONTENT = {
    node: (_getter(node.__match_args__), [*map(node.__match_args__.index, names)])
    for node, names in _EXPR_FIELDS.items()
}
_PLAIN = {
    node: _getter(tuple(name for name in node.__match_args__ if name not in ("span", "type", *names)))
    for node, names in _EXPR_FIELDS.items()
}
_STATEMENT_FIELDS = {node: _fields(node, *_EXPRESSIONS) for node in Statement.__args__}
_BODY_FIELDS = {node: _fields(node, "Body") for node in Statement.__args__}
_INNER = {node: _getter(names) for node, names in _BODY_FIELDS.items() if names}


def assigned_once(body: Body) -> list[Statement]:
    """The declarations and assignments of variables that have no other one."""
    by_symbol: dict[Symbol, list[Statement]] = {}
    for statement in statements(body):
        if statement.__class__ in _ASSIGNING:
            by_symbol.setdefault(statement.symbol, []).append(statement)
    return [setters[0] for setters in by_symbol.values() if len(setters) == 1]


def same(left: Expr, right: Expr) -> bool:
    """Whether two expressions are written alike: the same operators on the same symbols."""
    if left is right:
        return True
    if type(left) is not type(right) or left.type != right.type:
        return False
    if plain_values(left) != plain_values(right):
        return False
    first, second = children(left), children(right)
    return len(first) == len(second) and all(map(same, first, second))


def plain_values(expr: Expr) -> tuple[Any, ...]:
    """The fields of a node besides its type, span and operands; of a float its digits, as 0.0 equals -0.0."""
    return tuple(
        [term_of(value) if isinstance(value, float) else value for value in _PLAIN[type(expr)](expr)]
    )


def has_memory(expr: Expr) -> bool:
    """Whether an expression reads or writes memory."""
    return not _MEMORY.isdisjoint(kinds(expr))


def with_expressions(statement: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with its own outermost expressions changed, not those of the blocks inside it."""
    return _with_fields(statement, _STATEMENT_FIELDS[statement.__class__], change)


def with_bodies(statement: Statement, change: Callable[[Body], Body]) -> Statement:
    """The statement with the blocks inside it changed; the same object where none is."""
    return _with_fields(statement, _BODY_FIELDS[statement.__class__], change)


def _with_fields(statement: Statement, names: tuple[str, ...], change: Callable[[Any], Any]) -> Statement:
    changed: dict[str, Any] = {}
    for name in names:
        value = getattr(statement, name)
        new = None if value is None else change(value)
        if new is not value:
            changed[name] = new
    return replace(statement, **changed) if changed else statement


def map_expressions(body: Body, change: Callable[[Expr], Expr]) -> Body:
    """The statements with every outermost expression changed; the same object where nothing is."""
    return map_body(body, lambda statement: with_expressions(statement, change))


def map_statements(body: Body, change: Callable[[Statement], Body]) -> Body:
    """As ``map_body``, where one statement may become several or none."""

    def within(block: Body) -> Body:
        return map_statements(block, change)

    return _or_same(body, [s for old in body for s in change(_within(old, within))])


def map_body(body: Body, change: Callable[[Statement], Statement]) -> Body:
    """The statements changed one by one, inner blocks first; the same object where nothing changed."""
    return map_statements(body, lambda statement: (change(statement),))


def map_bodies(body: Body, change: Callable[[Body], Body]) -> Body:
    """The block and those inside it changed, inner ones first; the same object where nothing changed."""

    def within(block: Body) -> Body:
        return map_bodies(block, change)

    return change(_or_same(body, [_within(statement, within) for statement in body]))


def _within(statement: Statement, change: Callable[[Body], Body]) -> Statement:
    return with_bodies(statement, change) if statement.__class__ in _INNER else statement


def _or_same(body: Body, changed: Sequence[Statement]) -> Body:
    same = len(changed) == len(body) and all(map(operator.is_, changed, body))
    return body if same else tuple(changed)


def count_nodes(expr: Expr, limit: int) -> int:
    """The nodes of an expression, loads twice; where there are more than ``limit``, some number above it."""
    below = known_below(expr)
    if below is not None:
        return 1 + len(below) + sum([node.__class__ is typed.Load for node in (expr, *below)])
    pending, count = [expr], 0
    while pending and count <= limit:
        node = pending.pop()
        pending += children(node)
        count += 1 + (node.__class__ is typed.Load)  # barriers are put between them
    return count
