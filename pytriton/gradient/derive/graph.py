"""Typed tree -> single assignment: every variable has one definition, and keeps its value.

An assignment makes a new version of its variable, a ``Symbol`` of its own with the same name. What a loop
carries is a ``Carried`` variable: ``before`` it, ``inside`` at the start of each iteration, ``last`` at its
end, ``after`` the loop. The arms of an ``if`` meet in ``Merge``. Stores and atomics are ``Write``. Nothing
else has an effect on what is derived, so barriers are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from pytriton.errors import Report
from pytriton.frozen import replace
from pytriton.gradient.derive import builders as f
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Declare,
    Evaluate,
    Expr,
    For,
    If,
    KernelDef,
    Name,
    Remark,
    Statement,
    Store,
    Symbol,
    While,
)
from pytriton.lang.tree.walk import assigned, names, walk, with_children
from pytriton.passes.lower.jumps import without_returns
from pytriton.source import Source, Span


@dataclass(eq=False)
class Define:
    """``symbol = value``; None where it is declared without one."""

    symbol: Symbol
    value: Expr | None
    statement: Statement


@dataclass(eq=False)
class Write:
    """A store, or an ``atomic_add`` whose value is not used."""

    pointer: Expr
    value: Expr
    mask: Expr | None
    statement: Statement
    atomic: bool


@dataclass(eq=False)
class Carried:
    before: Expr
    inside: Symbol
    last: Symbol
    after: Symbol
    counter: bool  # declared in the head of a for

    @property
    def name(self) -> Name:
        """The value at the start of an iteration."""
        return Name(self.inside.span, self.inside.type, self.inside)


@dataclass(eq=False)
class Loop:
    """``constant``: no derivative flows through its values; ``computed``: by what it leaves, variables with these
    values, ``ones``, what is 1 then, and ``exponent``, the variable that makes it 1 (rescaled.py).
    """

    carried: list[Carried]
    condition: Expr | None
    body: list[Item]
    statement: Statement
    constant: bool = False
    computed: Mapping[Symbol, Symbol] = field(default_factory=dict)
    ones: Collection[Symbol] = ()
    exponent: Symbol | None = None


@dataclass(eq=False)
class Merge:
    after: Symbol
    yes: Symbol
    no: Symbol


@dataclass(eq=False)
class Branch:
    condition: Expr
    then: list[Item]
    otherwise: list[Item]
    merges: list[Merge]
    statement: Statement


Item = Define | Write | Loop | Branch
Values = Mapping[Symbol, Expr]  # of variables
_Node = TypeVar("_Node", bound=Expr)


@dataclass
class _Builder:
    """``now``: the version of each variable."""

    now: dict[Symbol, Symbol] = field(default_factory=dict)

    def expr(self, expr: Expr) -> Expr:
        for node in walk(expr):
            if isinstance(node, Atomic):
                refuse("TC705", "the old value of an atomic is used, which has no derivative", node.span)
        return renamed(expr, self.now)

    def items(self, body: Body) -> list[Item]:
        result: list[Item] = []
        for statement in body:
            result += self.item(statement)
        return result

    def item(self, statement: Statement) -> list[Item]:
        match statement:
            case Remark():
                return []
            case Declare(symbol=symbol, value=value) | Assign(symbol=symbol, value=value):
                new = None if value is None else self.expr(value)
                version = replace(symbol)
                self.now[symbol] = version
                return [Define(version, new, statement)]
            case (
                Store(pointer=pointer, value=value, mask=mask)
                | Evaluate(value=Atomic(operation="add", pointer=pointer, value=value, mask=mask))
            ):
                masked, atomic = None if mask is None else self.expr(mask), isinstance(statement, Evaluate)
                return [Write(self.expr(pointer), self.expr(value), masked, statement, atomic)]
            case Evaluate(value=Atomic(operation=operation) as lock):
                refuse("TC705", f"atomic_{operation} has no derivative: a lock, or a race", lock.span)
            case Evaluate():
                return []
            case For(init=init, condition=condition, step=step, body=body):
                return self.loop(statement, init, condition, (*body, *step))
            case While(condition=condition, body=body):
                return self.loop(statement, (), condition, body)
            case If():
                return [self.branch(statement)]
            case _:
                raise AssertionError(statement)  # normalised

    def loop(self, statement: Statement, init: Body, condition: Expr | None, body: Body) -> list[Item]:
        before: list[Item] = []
        values: dict[Symbol, Expr] = {}  # of those declared in the head
        for head in init:
            items = self.item(head)
            if isinstance(head, Declare) and head.value is not None:
                (values[head.symbol],) = values_in(items).values()
            else:
                before += items
        changed = [symbol for symbol in self.now if symbol in assigned(body)]
        for symbol, value in values.items():
            if symbol not in changed:  # a constant in the head of the loop
                before.append(Define(self.now[symbol], value, statement))
        carried: list[Carried] = []
        inside: dict[Symbol, Symbol] = {}
        for symbol in changed:
            old = self.now[symbol]
            start = values.get(symbol, Name(statement.span, old.type, old))
            version = replace(symbol)
            inside[symbol] = version
            carried.append(Carried(start, version, version, replace(symbol), symbol in values))
        outer = dict(self.now)
        self.now.update(inside)
        test = None if condition is None else self.expr(condition)
        items = self.items(body)
        for symbol, carry in zip(changed, carried, strict=True):
            carry.last = self.now[symbol]
        self.now = outer
        self.now.update({symbol: carry.after for symbol, carry in zip(changed, carried, strict=True)})
        return [*before, Loop(carried, test, items, statement)]

    def branch(self, statement: If) -> Branch:
        condition = self.expr(statement.condition)
        outer = dict(self.now)
        then = self.items(statement.then)
        after_then, self.now = self.now, dict(outer)
        otherwise = self.items(statement.otherwise)
        after_else, self.now = self.now, dict(outer)
        merges = []
        for symbol, old in outer.items():
            yes, no = after_then[symbol], after_else[symbol]
            if yes is not old or no is not old:
                merges.append(Merge(replace(symbol), yes, no))
                self.now[symbol] = merges[-1].after
        return Branch(condition, then, otherwise, merges, statement)


def graph_of(kernel: KernelDef) -> list[Item]:
    """The statements of a kernel in single assignment."""
    builder = _Builder()
    for symbol in kernel.parameters:
        builder.now[symbol] = symbol
    return builder.items(without_returns(kernel.body))


def defined_in(items: Iterable[Item]) -> list[Symbol]:
    """The variables that these statements define, not those inside their blocks."""
    result: list[Symbol] = []
    for item in items:
        match item:
            case Define(symbol=symbol):
                result.append(symbol)
            case Loop(carried=carried):
                result += [carry.after for carry in carried]
            case Branch(merges=merges):
                result += [merge.after for merge in merges]
    return result


def assigned_in(item: Item) -> Iterator[tuple[Symbol, Expr]]:
    """The variables that a statement sets, not those inside its blocks, each with a value that it may have."""
    match item:
        case Define(symbol=symbol, value=value) if value is not None:
            yield symbol, value
        case Loop(carried=carried):
            for carry in carried:
                for symbol in (carry.inside, carry.after):
                    yield from ((symbol, carry.before), (symbol, f.named(carry.last)))
        case Branch(merges=merges):
            for merge in merges:
                yield from ((merge.after, f.named(arm)) for arm in (merge.yes, merge.no))


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
            yield from (carry.before for carry in carried)
            if condition is not None:
                yield condition
        case Branch(condition=condition, merges=merges):
            yield condition
            for arm in (symbol for merge in merges for symbol in (merge.yes, merge.no)):
                yield f.named(arm)


def nodes_of(items: Iterable[Item], kind: type[_Node]) -> list[_Node]:
    """Every expression of one class in these statements, not those inside their blocks."""
    exprs = (expr for item in items for expr in expressions_of(item))
    return [node for expr in exprs for node in walk(expr) if isinstance(node, kind)]


def set_in(items: Iterable[Item]) -> list[Symbol]:
    """The variables that these statements define, inside their blocks too."""
    inner = [*every(items)]
    carried = (carry.inside for item in inner if isinstance(item, Loop) for carry in item.carried)
    return [*defined_in(inner), *carried]


def values_in(items: Iterable[Item]) -> dict[Symbol, Expr]:
    """The values that these statements define, by variable."""
    return {item.symbol: item.value for item in items if isinstance(item, Define) and item.value is not None}


def read_in(items: Iterable[Item]) -> set[Symbol]:
    """The variables that statements read, inside their blocks too."""
    return {symbol for item in every(items) for expr in expressions_of(item) for symbol in names(expr)}


def dependent(
    items: Iterable[Item],
    symbols: Iterable[Symbol | None],
    besides: Callable[[Item], bool] = lambda item: False,
) -> list[Item]:
    """The statements that read these variables, or what such statements define; ``besides``: others that count as
    if they did.
    """
    changing, result = {*symbols}, list[Item]()
    for item in items:
        if besides(item) or not changing.isdisjoint(read_in([item])):
            changing |= {*defined_in([item])}
            result.append(item)
    return result


def inlined(expr: Expr, values: Values, towards: Collection[Symbol] = ()) -> Expr:
    """The expression with values in place of variables; ``towards``: of those alone that depend on some others."""
    if isinstance(expr, Name):
        value = None if expr.symbol in towards else values.get(expr.symbol)
        inner = expr if value is None else inlined(value, values, towards)
        return inner if not towards or not names(inner).isdisjoint(towards) else expr
    return with_children(expr, lambda part: inlined(part, values, towards))


def renamed(expr: Expr, new: Mapping[Symbol, Symbol]) -> Expr:
    """The expression over other variables in place of some; each name stays where it stood."""
    if isinstance(expr, Name):
        symbol = new.get(expr.symbol, expr.symbol)
        return expr if symbol is expr.symbol else replace(expr, symbol=symbol)
    return with_children(expr, lambda part: renamed(part, new))


def replaced(expr: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """The expression with others in place of some of its nodes."""
    return new[expr] if expr in new else with_children(expr, lambda part: replaced(part, new))


def rewritten(
    item: Item, change: Callable[[Expr], Expr], symbol: Callable[[Symbol], Symbol] = lambda symbol: symbol
) -> Item:
    """A statement with its expressions changed, those inside its blocks too; ``symbol``: and its variables."""

    def maybe(expr: Expr | None) -> Expr | None:
        return None if expr is None else change(expr)

    def block(items: Iterable[Item]) -> list[Item]:
        return [rewritten(inner, change, symbol) for inner in items]

    match item:
        case Define():
            return replace(item, symbol=symbol(item.symbol), value=maybe(item.value))
        case Write():
            return replace(
                item, pointer=change(item.pointer), value=change(item.value), mask=maybe(item.mask)
            )
        case Loop():
            carried = [
                Carried(change(c.before), symbol(c.inside), symbol(c.last), symbol(c.after), c.counter)
                for c in item.carried
            ]
            return replace(item, carried=carried, condition=maybe(item.condition), body=block(item.body))
        case Branch():
            merges = [Merge(*map(symbol, (merge.after, merge.yes, merge.no))) for merge in item.merges]
            arms = {"then": block(item.then), "otherwise": block(item.otherwise)}
            return replace(item, condition=change(item.condition), merges=merges, **arms)


def copied(loop: Loop) -> tuple[Loop, dict[Symbol, Symbol]]:
    """The same loop with variables of its own, by those of the first."""
    own = {symbol: replace(symbol) for symbol in set_in([loop])}
    copy = rewritten(loop, lambda expr: renamed(expr, own), lambda symbol: own.get(symbol, symbol))
    assert isinstance(copy, Loop)
    return copy, own


def refuse(code: str, message: str, where: Span | Source, *notes: str, help: str | None = None) -> NoReturn:
    """Raise an ``UnsupportedError``: one diagnostic, with the code, the place and the reason."""
    Report().fatal(code, message, where, *notes, help=help)
