"""The order of evaluation: each effect in a statement of its own, from left to right.

Input: statements as checked, with atomics and ``Sequenced`` anywhere in their expressions. Output: the same without
``Sequenced``, the effects in the order of the source, each once. Invariant of the output: every expression is pure,
so that passes may copy, move and drop it, except that an atomic may be

- all that a statement evaluates, declares or assigns, perhaps converted, and
- the condition of a loop, perhaps converted or compared with a name or a number: ``while (atomic_cas(p, 0, 1));``.

What stands left of an effect is evaluated before it: a load, and a variable that the effect assigns, move into a
variable. Conditions of loops with other effects move into the body. An increment of a name goes after its statement
where nothing there can see the difference, which reads better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    NO_COMMENTS,
    Assign,
    Atomic,
    Binary,
    Body,
    Break,
    Cast,
    Constexpr,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    Literal,
    Load,
    Name,
    Sequenced,
    Statement,
    Store,
    Symbol,
    Unary,
    While,
)
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

__all__ = ["after", "evaluated_once", "has_effect", "in_order", "kept", "places"]

_EFFECTS: Final = frozenset((Atomic, Sequenced))
_COMPARISONS: Final = frozenset(("<", ">", "<=", ">=", "==", "!="))


# ---------------------------------------------------------------- for the checker


def has_effect(expr: Expr) -> bool:
    """Whether an expression does more than give a value."""
    return expr.type == VOID or not _EFFECTS.isdisjoint(kinds(expr))


def places(expr: Expr) -> Iterator[Span]:
    """Where the effects in an expression stand."""
    run = _run_by(expr)
    yield from [statement.span for statement in run if not isinstance(statement, Declare)]
    for value in (expr, *expressions(run)):
        yield from [node.span for node in walk(value) if isinstance(node, Atomic)]


def _run_by(expr: Expr) -> Body:
    """The statements in an expression, at any depth."""
    own = tuple([part for node in walk(expr) if isinstance(node, Sequenced) for part in node.statements])
    return own + tuple([part for value in expressions(own) for part in _run_by(value)])


def after(statements: Sequence[Statement], value: Expr) -> Expr:
    """The value once the statements have run."""
    if not statements or value.type == ERROR:
        return value
    return Sequenced(value.span, value.type, tuple(statements), value)


def kept(value: Expr, name: str) -> tuple[list[Statement], Name]:
    """A variable for a value: its declaration, and its name."""
    assert isinstance(value.type, ScalarType | PointerType | BlockType)
    symbol = Symbol(name, value.type, value.span)
    return [Declare(value.span, symbol, value)], Name(value.span, value.type, symbol)


def evaluated_once(expr: Expr, name: str = "value") -> tuple[list[Statement], Expr]:
    """What to run before an expression that is used several times, and what to use: itself where it is pure."""
    return kept(expr, name) if has_effect(expr) else ([], expr)


# ---------------------------------------------------------------- statements


def in_order(body: Body) -> Body:
    """The statements with the effects in their expressions as statements before them."""
    if _EFFECTS.isdisjoint(kinds_in(body)):
        return body
    return tuple([part for statement in body for part in _ordered(statement)])


def _ordered(statement: Statement) -> Body:
    """One statement with those that its effects are."""
    statement = with_bodies(statement, in_order)
    own = expressions((statement,), deep=False)
    if not any(map(has_effect, own)):
        return (statement,)
    if isinstance(statement, For | While | DoWhile):
        return (_loop(statement),)
    before, last = _apart(statement)
    group = _without_unread(before, last) + last
    if not isinstance(statement, If):
        group = _increments_last(group)
    group[0] = replace(group[0], comments=replace(NO_COMMENTS, above=statement.comments.above))
    group[-1] = replace(group[-1], comments=replace(group[-1].comments, beside=statement.comments.beside))
    return tuple(group)


def _apart(statement: Statement) -> tuple[list[Statement], list[Statement]]:
    """The effects of a statement, and what is left of it: nothing of an expression that is only evaluated."""
    before: list[Statement] = []
    statement = replace(statement, comments=NO_COMMENTS)
    match statement:
        case Declare(value=value) | Assign(value=value) if value is not None:
            return before, [replace(statement, value=_value(value, before))]
        case Evaluate(value=value):
            value = _value(value, before)
            return before, [replace(statement, value=value)] if has_effect(value) else []
        case If(condition=condition):
            return before, [replace(statement, condition=_pure(condition, before))]
        case Store(pointer=pointer, value=value, mask=mask):
            operands = [pointer, value] if mask is None else [mask, pointer, value]
            pure = iter(_operands(operands, before))
            mask = None if mask is None else next(pure)
            return before, [replace(statement, mask=mask, pointer=next(pure), value=next(pure))]
    raise AssertionError(statement)


def _loop(loop: For | While | DoWhile) -> Statement:
    """A loop whose condition is pure: with effects, it is tested at the top of the body, or as the step."""
    condition = loop.condition
    assert condition is not None
    if not isinstance(loop, DoWhile) and _whole(condition, True) is not None:
        return loop
    refused = Unary(condition.span, condition.type, "!", condition)
    test = _ordered(If(condition.span, refused, (Break(condition.span),), ()))
    if isinstance(loop, DoWhile):
        return For(loop.span, (), None, test, loop.body, loop.comments)
    init, step = (loop.init, loop.step) if isinstance(loop, For) else ((), ())
    return For(loop.span, init, None, step, (*test, *loop.body), loop.comments)


# ---------------------------------------------------------------- expressions


def _value(expr: Expr, before: list[Statement]) -> Expr:
    """All that a statement evaluates: an atomic or a call without a value stays in it."""
    if isinstance(expr, Sequenced):
        return _value(_run(expr, before), before)
    if _whole(expr, False) is None and expr.type != VOID:
        return _pure(expr, before)
    if isinstance(expr, Cast):
        return replace(expr, operand=_value(expr.operand, before))
    return _with_operands(expr, before)


def _whole(expr: Expr, tested: bool) -> Expr | None:
    """The atomic that an expression is, with pure operands, perhaps converted; ``tested``: perhaps compared."""
    match expr:
        case Atomic() if not tested or not any(map(has_effect, children(expr))):
            return expr
        case Cast(operand=operand):
            return _whole(operand, tested)
        case Unary(operator="!", operand=operand) if tested:
            return _whole(operand, tested)
        case Binary(operator=operator, left=left, right=Name() | Literal() | Constexpr()) if tested:
            return _whole(left, tested) if operator in _COMPARISONS else None
    return None


def _pure(expr: Expr, before: list[Statement]) -> Expr:
    """The value of an expression once its effects, which are appended, have happened."""
    if not has_effect(expr):
        return expr
    if isinstance(expr, Sequenced):
        return _pure(_run(expr, before), before)
    expr = _with_operands(expr, before)
    return _variable(expr, before) if isinstance(expr, Atomic) else expr


def _run(expr: Sequenced, before: list[Statement]) -> Expr:
    """The value after the statements, which are appended."""
    for statement in expr.statements:
        effects, last = _apart(statement)
        before += effects + last
    return expr.value


def _with_operands(expr: Expr, before: list[Statement]) -> Expr:
    """The expression with pure operands; a mask comes before its pointer."""
    operands = list(children(expr))
    masked = isinstance(expr, Load) and expr.mask is not None
    if masked:
        operands[:2] = operands[1::-1]
    operands = _operands(operands, before)
    if masked:
        operands[:2] = operands[1::-1]
    pure = iter(operands)
    return with_children(expr, lambda _: next(pure))


def _operands(operands: list[Expr], before: list[Statement]) -> list[Expr]:
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
    symbols, silent = assigned(run), Declare | Assign
    memory = Atomic in kinds(changing) | kinds_in(run) or not all(isinstance(part, silent) for part in run)

    def take(node: Expr) -> Expr:
        loads = memory and Load in kinds(node)
        if not loads and names(node).isdisjoint(symbols):
            return node
        if isinstance(node, Name) or (loads and isinstance(node, Load)):
            return _variable(node, before)
        return with_children(node, take)

    return take(expr)


def _variable(expr: Expr, before: list[Statement]) -> Name:
    declared, name = kept(expr, "value")
    before += declared
    return name


# ---------------------------------------------------------------- as a person would write it


def _without_unread(before: list[Statement], last: list[Statement]) -> list[Statement]:
    """The statements before the last one without variables that nothing reads."""
    result: list[Statement] = []
    read = reads(tuple(last))
    for statement in reversed(before):
        if isinstance(statement, Declare) and statement.symbol not in read:
            atomic = None if statement.value is None else _whole(statement.value, False)
            if atomic is None:
                continue
            statement = Evaluate(statement.span, atomic)
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
            case Declare(symbol=old, value=Name(symbol=symbol) as name), Assign(value=value) if (
                second.symbol is symbol  # type: ignore[union-attr]
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
