"""Typed tree -> single assignment: every variable has one definition, and keeps its value.

An assignment makes a new version of its variable, a ``Symbol`` of its own with the same name. What a loop
carries is a ``Carried`` variable: ``before`` it, ``inside`` at the start of each iteration, ``last`` at its
end, ``after`` the loop. The arms of an ``if`` meet in ``Merge``. Stores and atomics are ``Write``. Nothing
else has an effect on what is derived, so barriers are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from pytriton.errors import Report
from pytriton.frozen import replace
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
from pytriton.lang.tree.walk import assigned, walk, with_children
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


@dataclass
class _Builder:
    """``now``: the version of each variable. ``heads``: those declared in the head of a loop that is being
    read.
    """

    now: dict[Symbol, Symbol] = field(default_factory=dict)

    def expr(self, expr: Expr) -> Expr:
        for node in walk(expr):
            if isinstance(node, Atomic):
                refuse("TC705", "the old value of an atomic is used, which has no derivative", node.span)
        return self._now(expr)

    def _now(self, expr: Expr) -> Expr:
        """With the versions that hold; each name stays where it stood."""
        if isinstance(expr, Name):
            version = self.now.get(expr.symbol, expr.symbol)
            return expr if version is expr.symbol else replace(expr, symbol=version)
        return with_children(expr, self._now)

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
            case Store(pointer=pointer, value=value, mask=mask):
                masked = None if mask is None else self.expr(mask)
                return [Write(self.expr(pointer), self.expr(value), masked, statement, False)]
            case Evaluate(value=Atomic(operation="add", pointer=pointer, value=value, mask=mask)):
                masked = None if mask is None else self.expr(mask)
                return [Write(self.expr(pointer), self.expr(value), masked, statement, True)]
            case Evaluate(value=Atomic() as atomic):
                refuse(
                    "TC705", f"atomic_{atomic.operation} has no derivative: a lock, or a race", atomic.span
                )
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
        heads: set[Symbol] = set()
        before: list[Item] = []
        values: dict[Symbol, Expr] = {}
        for head in init:
            items = self.item(head)
            define = items[0] if len(items) == 1 else None
            if isinstance(head, Declare) and isinstance(define, Define) and define.value is not None:
                heads.add(head.symbol)
                values[head.symbol] = define.value
            else:
                before += items
        changed = [symbol for symbol in self.now if symbol in assigned(body)]
        carried_heads = [symbol for symbol in heads if symbol in changed]
        for symbol in heads - set(carried_heads):  # a constant in the head of the loop
            before.append(Define(self.now[symbol], values[symbol], statement))
        carried: list[Carried] = []
        inside: dict[Symbol, Symbol] = {}
        for symbol in changed:
            old = self.now[symbol]
            start = values.get(symbol) if symbol in heads else Name(statement.span, old.type, old)
            assert start is not None
            version = replace(symbol)
            inside[symbol] = version
            carried.append(Carried(start, version, version, replace(symbol), symbol in heads))
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


def rewritten(item: Item, change: Callable[[Expr], Expr]) -> Item:
    """A statement with its expressions changed, those inside its blocks too."""

    def maybe(expr: Expr | None) -> Expr | None:
        return None if expr is None else change(expr)

    def block(items: Iterable[Item]) -> list[Item]:
        return [rewritten(inner, change) for inner in items]

    match item:
        case Define():
            return replace(item, value=maybe(item.value))
        case Write():
            return replace(
                item, pointer=change(item.pointer), value=change(item.value), mask=maybe(item.mask)
            )
        case Loop():
            starts = [replace(carry, before=change(carry.before)) for carry in item.carried]
            return replace(item, carried=starts, condition=maybe(item.condition), body=block(item.body))
        case Branch():
            merges = [replace(merge) for merge in item.merges]
            arms = {"then": block(item.then), "otherwise": block(item.otherwise)}
            return replace(item, condition=change(item.condition), merges=merges, **arms)


def copied(loop: Loop) -> tuple[Loop, dict[Symbol, Symbol]]:
    """The same loop with variables of its own, by those of the first."""
    own: dict[Symbol, Symbol] = {}

    def fresh(symbol: Symbol) -> Symbol:
        return own.setdefault(symbol, replace(symbol))

    def renamed(expr: Expr) -> Expr:
        if isinstance(expr, Name):
            return replace(expr, symbol=own[expr.symbol]) if expr.symbol in own else expr
        return with_children(expr, renamed)

    def maybe(expr: Expr | None) -> Expr | None:
        return None if expr is None else renamed(expr)

    def of(item: Item) -> Item:
        match item:
            case Define(symbol=symbol, value=value):
                return replace(item, value=maybe(value), symbol=fresh(symbol))
            case Write():
                return rewritten(item, renamed)
            case Loop(carried=carried):
                starts = [renamed(carry.before) for carry in carried]
                insides = [fresh(carry.inside) for carry in carried]
                body, condition = [of(inner) for inner in item.body], maybe(item.condition)
                ends = [(own.get(carry.last, carry.last), fresh(carry.after)) for carry in carried]
                carries = [
                    Carried(start, inside, *end, carry.counter)
                    for start, inside, end, carry in zip(starts, insides, ends, carried, strict=True)
                ]
                return replace(item, carried=carries, condition=condition, body=body)
            case Branch():
                condition_ = renamed(item.condition)
                then, otherwise = [of(inner) for inner in item.then], [of(inner) for inner in item.otherwise]
                merges = [
                    Merge(fresh(merge.after), own.get(merge.yes, merge.yes), own.get(merge.no, merge.no))
                    for merge in item.merges
                ]
                return replace(item, condition=condition_, then=then, otherwise=otherwise, merges=merges)

    copy = of(loop)
    assert isinstance(copy, Loop)
    return copy, own


def refuse(code: str, message: str, where: Span | Source, *notes: str, help: str | None = None) -> NoReturn:
    """Raise an ``UnsupportedError``: one diagnostic, with the code, the place and the reason."""
    Report().fatal(code, message, where, *notes, help=help)
