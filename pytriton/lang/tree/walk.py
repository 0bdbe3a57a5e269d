"""Walking and rebuilding the typed tree, for the passes.

Passes ask the same nodes the same questions again and again; as nodes never change, what is below a small
expression, which symbols it reads and which kinds of nodes it has is kept with it (typed.py), and likewise with a
statement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Declare,
    DoWhile,
    Expr,
    For,
    If,
    Known,
    KnownInside,
    Load,
    Name,
    RangeLoop,
    Statement,
    Symbol,
    While,
)

__all__ = [
    "assigned",
    "assigned_once",
    "bodies",
    "children",
    "expressions",
    "has_memory",
    "inside",
    "kinds",
    "kinds_in",
    "known_below",
    "map_bodies",
    "map_body",
    "map_expressions",
    "map_statements",
    "names",
    "plain_values",
    "reads",
    "rebuild",
    "same",
    "set_bases",
    "statements",
    "walk",
    "with_bodies",
    "with_children",
    "with_expressions",
]


_E = TypeVar("_E", bound=Expr)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct operands of an expression, in source order."""
    many, get = _OPERANDS[expr.__class__]
    if many:
        operands: list[Expr] = []
        for value in get(expr):
            if value.__class__ is tuple:
                operands += value
            elif value is not None:
                operands.append(value)
        return tuple(operands)
    return get(expr)


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
        if optional:
            pending += children(node)[::-1]
        else:
            pending += operands(node)[::-1]
    if len(nodes) <= MAX_KNOWN_NODES:
        _set_below(expr, tuple(nodes[1:]))  # were it there itself, only the garbage collector would free it
    return nodes


def known_below(expr: Expr) -> tuple[Expr, ...] | None:
    """Everything below an expression, if it was walked through before and is small."""
    try:
        return expr.below
    except AttributeError:
        return None


def names(expr: Expr) -> frozenset[Symbol]:
    """The symbols that an expression reads."""
    try:
        return expr.symbols
    except AttributeError:
        symbols = frozenset([node.symbol for node in walk(expr) if node.__class__ is Name])
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
    if expr.__class__ is Name:
        return change.get(expr.symbol, expr)
    if not change:
        return expr
    return with_children(expr, lambda child: rebuild(child, change))


def with_children(expr: _E, change: Callable[[Expr], Expr]) -> _E:
    """The expression with its direct operands changed; the same object where none is."""
    optional, operands = _OPERANDS[expr.__class__]
    if not optional:
        before = operands(expr)
        if not before:
            return expr
        after = [change(operand) for operand in before]
        if all(map(operator.is_, before, after)):
            return expr
        return _with_operands(expr, after)
    changes: dict[str, object] = {}
    for name in _EXPR_FIELDS[expr.__class__]:
        value = getattr(expr, name)
        if value is None:
            continue
        if isinstance(value, tuple):
            changed: object = tuple(map(change, value))
            same = all(map(operator.is_, changed, value))  # type: ignore[call-overload]
        else:
            changed = change(value)
            same = changed is value
        if not same:
            changes[name] = changed
    return replace(expr, **changes) if changes else expr


def _with_operands(expr: _E, operands: Sequence[Expr]) -> _E:
    """The expression with other operands, all of them: as ``replace``, in half the time."""
    content, places = _CONTENT[expr.__class__]
    values: list[Any] = list(content(expr))
    for place, operand in zip(places, operands, strict=True):
        values[place] = operand
    result: Any = expr.__class__(*values)
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


def _united(body: Body, get: Callable[[KnownInside], frozenset[Any]]) -> set[Any]:
    try:
        return set().union(*map(get, body))
    except AttributeError:
        return set().union(*map(get, map(inside, body)))


def inside(statement: Statement) -> KnownInside:
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


def _expr_fields(node: type) -> tuple[str, ...]:
    """The fields of a node class that hold expressions, as its annotations say."""
    return tuple(f.name for f in fields(node) if f.type in ("Expr", "Expr | None", "tuple[Expr, ...]"))


def _operands(node: type) -> tuple[bool, Callable[[Any], tuple[Any, ...]]]:
    """How to get the operands of a node class; whether some may be absent, or stand in a tuple."""
    names = _expr_fields(node)
    optional = any(f.type != "Expr" for f in fields(node) if f.name in names)
    if len(names) == 1:
        get = operator.attrgetter(*names)
        return optional, lambda expr: (get(expr),)
    return optional, operator.attrgetter(*names) if names else lambda _: ()


_ASSIGNING = (Declare, Assign, RangeLoop)
_MEMORY = frozenset((Load, Atomic))
MAX_KNOWN_NODES = (
    64  # nodes; of larger expressions nothing is kept, so that memory stays a small part of the text
)
_NOTHING: frozenset[Any] = frozenset()
set_bases, _set_below, _set_kinds, _set_symbols = (vars(Known)[name].__set__ for name in Known.__slots__)
_get_kinds, _get_reads, _get_sets = map(operator.attrgetter, KnownInside.__slots__)
_set_kinds_in, _set_reads, _set_sets = (vars(KnownInside)[name].__set__ for name in KnownInside.__slots__)
_EXPR_FIELDS = {node: _expr_fields(node) for node in Expr.__args__}
_OPERANDS = {node: _operands(node) for node in Expr.__args__}
_CONTENT = {
    node: (operator.attrgetter(*node.__match_args__), [*map(node.__match_args__.index, names)])
    for node, names in _EXPR_FIELDS.items()
}
_INNER: dict[type, Callable[[Any], tuple[Body, ...]]] = {
    If: operator.attrgetter("then", "otherwise"),
    For: operator.attrgetter("init", "body", "step"),
    **dict.fromkeys((RangeLoop, While, DoWhile), lambda statement: (statement.body,)),
}


def assigned_once(body: Body) -> list[Statement]:
    """The declarations and assignments of variables that have no other one."""
    by_symbol: dict[Symbol, list[Statement]] = {}
    pending = list(body)
    while pending:
        statement = pending.pop()
        cls = statement.__class__
        if cls in _ASSIGNING:
            by_symbol.setdefault(statement.symbol, []).append(statement)  # type: ignore[union-attr]
        if cls in _INNER:
            for inner in _INNER[cls](statement):
                pending += inner
    return [statements[0] for statements in by_symbol.values() if len(statements) == 1]


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
    """What a node holds beside its type, its place and its operands; of a float its digits, as 0.0 equals -0.0."""
    values = [getattr(expr, name) for name in _PLAIN_FIELDS[type(expr)]]
    return tuple([repr(value) if value.__class__ is float else value for value in values])


def has_memory(expr: Expr) -> bool:
    """Whether an expression reads or writes memory."""
    return not _MEMORY.isdisjoint(kinds(expr))


def with_expressions(statement: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with its own outermost expressions changed, not those of the blocks inside it."""
    changed: dict[str, Any] = {}
    for name in _STATEMENT_FIELDS[type(statement)]:
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
    changed: list[Statement] = []
    for statement in body:
        inner = statement.__class__ in _INNER
        changed += change(
            with_bodies(statement, lambda inner: map_statements(inner, change)) if inner else statement
        )
    same = len(changed) == len(body) and all(map(operator.is_, changed, body))
    return body if same else tuple(changed)


def map_body(body: Body, change: Callable[[Statement], Statement]) -> Body:
    """The statements changed one by one, inner blocks first; the same object where nothing changed."""

    def inner(block: Body) -> Body:
        return map_body(block, change)

    changed = [change(with_bodies(s, inner) if s.__class__ in _INNER else s) for s in body]
    return body if all(map(operator.is_, changed, body)) else tuple(changed)


def map_bodies(body: Body, change: Callable[[Body], Body]) -> Body:
    """The block and those inside it changed, inner ones first; the same object where nothing changed."""

    def within(block: Body) -> Body:
        return map_bodies(block, change)

    inner = tuple([with_bodies(s, within) if s.__class__ in _INNER else s for s in body])
    return change(body if all(map(operator.is_, inner, body)) else inner)


def with_bodies(statement: Statement, change: Callable[[Body], Body]) -> Statement:
    """The statement with the blocks inside it changed; the same object where none is."""
    changed: dict[str, Any] = {}
    for name in _BODY_FIELDS[type(statement)]:
        inner = getattr(statement, name)
        new = change(inner)
        if new is not inner:
            changed[name] = new
    return replace(statement, **changed) if changed else statement


def _plain_fields(node: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(node) if f.name not in ("span", "type", *_EXPR_FIELDS[node]))


_STATEMENT_FIELDS = {node: _expr_fields(node) for node in Statement.__args__}
_PLAIN_FIELDS = {node: _plain_fields(node) for node in Expr.__args__}
_BODY_FIELDS = {node: tuple(f.name for f in fields(node) if f.type == "Body") for node in Statement.__args__}
