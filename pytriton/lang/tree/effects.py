"""The order of evaluation: each effect in a statement of its own, from left to right.

Input: statements as checked, with atomics and ``Sequenced`` anywhere in their expressions. Output: the same without
``Sequenced``, the effects in the order of the source, each once. Invariant of the output: every expression is pure,
so that passes may copy, move and drop it, except that an atomic may be

- all that a statement evaluates, declares or assigns, perhaps converted, and
- the condition of a loop, perhaps converted or compared with a name or a number: ``while (atomic_cas(p, 0, 1));``.

Operands left of an effect are evaluated before it: a load, and a variable that the effect assigns, move into a
variable. Conditions of loops with other effects move into the body. An increment of a name goes after its statement
where nothing there can see the difference, which reads better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final, TypeVar

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import COMPARISONS
from pytriton.lang.tree.typed import Body, Expr, Statement, Symbol
from pytriton.lang.tree.types import ERROR, VOID, BlockType, PointerType, ScalarType
from pytriton.lang.tree.walk import (
    assigned,
    children,
    expressions,
    has_memory,
    kinds,
    kinds_in,
    names,
    reads,
    rebuild,
    walk,
    with_bodies,
    with_children,
    with_expressions,
)
from pytriton.source import Span

_EFFECTS: Final = frozenset((typed.Atomic, typed.Sequenced))


# ---------------------------------------------------------------- for the checker


def has_effect(expr: Expr) -> bool:
    """Whether an expression does more than give a value."""
    return expr.type == VOID or not _EFFECTS.isdisjoint(kinds(expr))


def places(expr: Expr) -> Iterator[Span]:
    """The spans of the effects in an expression."""
    run = _run_by(expr)
    yield from [statement.span for statement in run if not isinstance(statement, typed.Declare)]
    for value in (expr, *expressions(run)):
        yield from [node.span for node in walk(value) if isinstance(node, typed.Atomic)]


def _run_by(expr: Expr) -> Body:
    """The statements in an expression, at any depth."""
    own = tuple(
        [part for node in walk(expr) if isinstance(node, typed.Sequenced) for part in node.statements]
    )
    return own + tuple([part for value in expressions(own) for part in _run_by(value)])


def after(statements: Sequence[Statement], value: Expr) -> Expr:
    """The value once the statements have run."""
    if not statements or value.type == ERROR:
        return value
    return typed.Sequenced(value.span, value.type, tuple(statements), value)


def kept(value: Expr, name: str, before: list[Statement]) -> typed.Name:
    """A variable for a value, whose declaration is appended."""
    assert isinstance(value.type, ScalarType | PointerType | BlockType)
    symbol = Symbol(name, value.type, value.span)
    before.append(typed.Declare(value.span, symbol, value))
    return typed.Name(value.span, value.type, symbol)


def evaluated_once(expr: Expr, before: list[Statement]) -> Expr:
    """What to use of an expression that is used several times: itself where it is pure, else a variable."""
    return kept(expr, "value", before) if has_effect(expr) else expr


# ---------------------------------------------------------------- statements


def in_order(body: Body) -> Body:
    """The statements with the effects in their expressions as statements before them."""
    if _EFFECTS.isdisjoint(kinds_in(body)):
        return body
    return tuple([part for statement in body for part in _ordered(statement)])


def _ordered(statement: Statement) -> Body:
    """One statement with those that its effects are."""
    statement = with_bodies(statement, in_order)
    if not any(map(has_effect, expressions((statement,), deep=False))):
        return (statement,)
    if isinstance(statement, typed.For | typed.While | typed.DoWhile):
        return (_loop(statement),)
    group = _without_unread(_parts(replace(statement, comments=typed.NO_COMMENTS)), statement)
    if not isinstance(statement, typed.If):
        group = _increments_last(group)
    group[0] = replace(group[0], comments=replace(typed.NO_COMMENTS, above=statement.comments.above))
    group[-1] = replace(group[-1], comments=replace(group[-1].comments, beside=statement.comments.beside))
    return tuple(group)


def _parts(statement: Statement) -> list[Statement]:
    """The effects of a statement, and what is left of it: nothing of a pure expression that is only evaluated."""
    before: list[Statement] = []
    if isinstance(statement, typed.Store):
        statement = _masked(statement, before)
    else:
        whole = not isinstance(statement, typed.If)
        statement = with_expressions(statement, lambda expr: _pure(expr, before, whole))
    idle = isinstance(statement, typed.Evaluate) and not has_effect(statement.value)
    return before if idle else [*before, statement]


def _loop(loop: typed.For | typed.While | typed.DoWhile) -> Statement:
    """A loop whose condition is pure: with effects, it is tested at the top of the body, or as the step."""
    condition = loop.condition
    assert condition is not None
    if not isinstance(loop, typed.DoWhile) and _stays(condition):
        return loop
    refused = typed.Unary(condition.span, condition.type, "!", condition)
    test = _ordered(typed.If(condition.span, refused, (typed.Break(condition.span),), ()))
    if isinstance(loop, typed.For):
        return replace(loop, condition=None, body=(*test, *loop.body))
    step, body = (test, loop.body) if isinstance(loop, typed.DoWhile) else ((), (*test, *loop.body))
    return typed.For(loop.span, (), None, step, body, loop.comments)


def _stays(condition: Expr) -> bool:
    """Whether the condition of a loop is one atomic of pure values without loads, perhaps compared with one."""
    match condition:
        case typed.Cast(operand=operand) | typed.Unary(operator="!", operand=operand):
            return _stays(operand)
        case typed.Binary(
            operator=operator, left=left, right=typed.Name() | typed.Literal() | typed.Constexpr()
        ):
            return operator in COMPARISONS and _stays(left)
    return isinstance(condition, typed.Atomic) and not any(has_memory(child) for child in children(condition))


# ---------------------------------------------------------------- expressions


def _pure(expr: Expr, before: list[Statement], whole: bool = False) -> Expr:
    """The value of an expression once its effects, which are appended, have happened.

    An atomic that is ``whole``, all that a statement evaluates, is left in it.
    """
    if isinstance(expr, typed.Sequenced):
        for statement in expr.statements:
            before += _parts(statement)
        return _pure(expr.value, before, whole)
    if not has_effect(expr):
        return expr
    if whole and isinstance(expr, typed.Cast):
        return replace(expr, operand=_pure(expr.operand, before, whole))
    if isinstance(expr, typed.Load):
        return _masked(expr, before)
    operands = iter(_operands(children(expr), before))
    expr = with_children(expr, lambda _: next(operands))
    return kept(expr, "value", before) if isinstance(expr, typed.Atomic) and not whole else expr


_Access = TypeVar("_Access", typed.Load, typed.Store)


def _masked(access: _Access, before: list[Statement]) -> _Access:
    """A load or a store with pure operands, of which the mask comes first."""
    given = [
        name for name in ("mask", "pointer", "other", "value") if getattr(access, name, None) is not None
    ]
    pure = _operands([getattr(access, name) for name in given], before)
    changed: dict[str, Any] = dict(zip(given, pure, strict=True))
    return replace(access, **changed)


def _operands(operands: Sequence[Expr], before: list[Statement]) -> list[Expr]:
    """Operands in the order of evaluation, made pure: each has its value before the effects of those after it."""
    pure: list[Expr] = []
    for operand in operands:
        if has_effect(operand):
            pure = [_taken(earlier, operand, before) for earlier in pure]
        pure.append(_pure(operand, before))
    return pure


def _taken(expr: Expr, changing: Expr, before: list[Statement]) -> Expr:
    """The expression with variables for what the effects in another one are about to change."""
    run = _run_by(changing)
    symbols, silent = assigned(run), typed.Declare | typed.Assign
    memory = typed.Atomic in kinds(changing) | kinds_in(run) or not all(
        isinstance(part, silent) for part in run
    )

    def take(node: Expr) -> Expr:
        loads = memory and typed.Load in kinds(node)
        if not loads and names(node).isdisjoint(symbols):
            return node
        if isinstance(node, typed.Name) or (loads and isinstance(node, typed.Load)):
            return kept(node, "value", before)
        return with_children(node, take)

    return take(expr)


# ---------------------------------------------------------------- as a person would write it


def _without_unread(group: list[Statement], own: Statement) -> list[Statement]:
    """The statements without variables that were made for nothing; those that ``own`` sets are not made."""
    result: list[Statement] = []
    read = assigned((own,))
    for statement in reversed(group):
        if isinstance(statement, typed.Declare) and statement.value and statement.symbol not in read:
            atomic = next((node for node in walk(statement.value) if isinstance(node, typed.Atomic)), None)
            if atomic is None:
                continue
            statement = typed.Evaluate(statement.span, atomic)
        read |= reads((statement,))
        result.append(statement)
    return result[::-1]


def _increments_last(group: list[Statement]) -> list[Statement]:
    """``old = n; n = n + 1; *(p + old) = x`` as ``*(p + n) = x; n = n + 1``, and the like."""
    place = 0
    moved: list[Statement] = []
    while place < len(group) - 2:
        first, second, rest = group[place], group[place + 1], tuple(group[place + 2 :])
        match first, second:
            case typed.Declare(symbol=old, value=typed.Name(symbol=symbol) as name), typed.Assign(
                value=value
            ) if (
                second.symbol is symbol
                and names(value) <= {symbol}
                and not has_memory(value)
                and symbol not in reads(rest) | assigned(rest)
            ):
                change = partial(rebuild, change={old: name})
                group[place:] = [with_expressions(part, change) for part in rest]
                moved.append(second)
            case _:
                place += 1
    return group + moved
