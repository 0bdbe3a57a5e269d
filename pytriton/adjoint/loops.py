"""Loops that change their place: loads made ahead, programs that a loop walks, iterations that become programs.

``rotate``: ``a = *pa; for (...) { c += a @ b; pa += TK; a = *pa; }`` carries a, which is no sum. But in every
iteration a is what ``*pa`` is at its start: the load before the loop is the one in it, with what the loop starts
from in place of what it carries. So a is loaded at the start, and the loads before the loop and at its end go.
Nothing that is read is written in a kernel that has a derivative, so the load may move.

``turned``: of ``c += a @ b``, all programs along one axis read the same tiles of a. So each of their gradients is a
sum over these programs, which one program can add up: it walks them by a loop. Where a has other tiles in each
iteration of the forward's loop, the iterations become programs along the axis that is free now. That turns the
backward of a product into two products. The loop is gone from the graph then: what it carries is what it is in
iteration ``step``, written as a product. What a loop carries otherwise (sums) has no value there; ``derive.py``
refuses a text that would read it.

``walked`` puts the loop around the lines of the pass: what depends on the program stands in it, the rest before it.
What is summed has a variable that the loop adds to, stored after it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pytriton.adjoint.active import every, expressions_of
from pytriton.adjoint.formula import POSTFIX, Formula, condition, marked
from pytriton.adjoint.formula import number as constant
from pytriton.adjoint.graph import Branch, Carried, Define, Item, Loop, Merge, Write, defined_in
from pytriton.adjoint.program import Choose, Line, Put, Repeat, Update, Variable, read_by
from pytriton.adjoint.program import Declare as Given
from pytriton.frozen import replace
from pytriton.lang.tree.typed import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Declare,
    Expr,
    Literal,
    Load,
    Name,
    Symbol,
)
from pytriton.lang.tree.types import INT, LONG, PointerType, ScalarType, element_of, shape_of, with_element
from pytriton.lang.tree.walk import has_memory, names, rebuild, same, walk, with_children
from pytriton.source import Span

__all__ = ["NotWalked", "Turned", "loops_of", "rotate", "turned", "walked"]


def rotate(items: list[Item]) -> None:
    """Move the loads of all loops, in place."""
    _rotate(items, items)


def _rotate(block: list[Item], whole: list[Item]) -> None:
    for item in list(block):
        if isinstance(item, Loop):
            _rotate(item.body, whole)
            for each in item.carried[::-1]:
                _rotate_value(item, each, block, whole)
        elif isinstance(item, Branch):
            _rotate(item.then, whole)
            _rotate(item.otherwise, whole)


def _rotate_value(loop: Loop, each: Carried, block: list[Item], whole: list[Item]) -> None:
    tail = _definition(each.last, loop.body)
    first = _definition(each.before.symbol, block) if isinstance(each.before, Name) else None
    if tail is None or first is None or tail.value is None or first.value is None:
        return
    others = [other for other in loop.carried if other is not each and other.last is not other.inside]
    if not has_memory(tail.value) or not names(tail.value).isdisjoint(o.inside for o in loop.carried):
        return
    now: dict[Symbol, Expr] = {o.last: Name(tail.value.span, o.inside.type, o.inside) for o in others}
    value = rebuild(tail.value, now)
    inner = [inner for item in every(loop.body) for inner in defined_in([item])]
    if not names(value).isdisjoint(inner):
        return
    if not same(rebuild(value, {o.inside: o.before for o in others}), first.value):
        return
    used = _used(whole)
    if used[each.after] or used[each.last] > 1 or used[first.symbol] > 1:  # by what is carried, each once
        return
    loop.carried.remove(each)
    loop.body.remove(tail)
    loop.body.insert(0, Define(each.inside, value, first.statement))
    block.remove(first)


def _definition(symbol: Symbol, items: Sequence[Item]) -> Define | None:
    return next((item for item in items if isinstance(item, Define) and item.symbol is symbol), None)


def _used(items: list[Item]) -> Counter[Symbol]:
    """How often each variable is read."""
    count: Counter[Symbol] = Counter()
    for item in every(items):
        for expr in expressions_of(item):
            count.update(names(expr))
        if isinstance(item, Loop):
            count.update(each.last for each in item.carried)
        elif isinstance(item, Branch):
            for merge in item.merges:
                count.update((merge.yes, merge.no))
    return count


# ---------------------------------------------------------------- programs and iterations


@dataclass(eq=False)
class Turned:
    """``program``: the forward's program along the axis, no longer an id; ``count``: how many of them there were;
    ``unknown``: variables without a value; ``loads``: each load by what it was before.
    """

    items: list[Item]
    program: Symbol
    count: Symbol
    unknown: list[Symbol] = field(default_factory=list)
    loads: dict[Load, Load] = field(default_factory=dict)


def loops_of(items: Iterable[Item]) -> list[Loop]:
    """The loops that stand in no other block."""
    return [item for item in items if isinstance(item, Loop)]


def turned(items: list[Item], axis: int, loop: int | None, where: Span) -> Turned:
    """The graph with the programs along an axis walked; ``loop``: the number of a loop that becomes programs."""
    named = next((item for item in items if isinstance(item, Define) and _asks(item.value, axis)), None)
    program = named.symbol if named is not None else Symbol(f"program_{axis}", INT, where)
    result = Turned([], program, Symbol(f"grid_{axis}", INT, where, True, f"int grid_{axis}"))
    chosen = None if loop is None else loops_of(items)[loop]
    for item in items:
        if item is chosen:
            assert isinstance(item, Loop)
            result.items += _Once(result, axis).loop_gone(item)
        elif item is not named:
            result.items.append(_Once(result, axis).item(item))
    return result


def _asks(expr: Expr | None, axis: int, function: str = "program_id") -> bool:
    if not isinstance(expr, Call) or expr.function != function:
        return False
    (which,) = expr.arguments
    return isinstance(which, Literal) and int(which.value) == axis


@dataclass
class _Once:
    result: Turned
    axis: int

    def expr(self, expr: Expr) -> Expr:
        new = self._expr(expr)
        before, after = ([node for node in walk(each) if isinstance(node, Load)] for each in (expr, new))
        self.result.loads |= zip(after, before, strict=True)
        return new

    def _expr(self, expr: Expr) -> Expr:
        for function, symbol in (("program_id", self.result.program), ("num_programs", self.result.count)):
            if _asks(expr, self.axis, function):
                return Name(expr.span, expr.type, symbol)
        return with_children(expr, self._expr)

    def maybe(self, expr: Expr | None) -> Expr | None:
        return None if expr is None else self.expr(expr)

    def item(self, item: Item) -> Item:
        match item:
            case Define(symbol=symbol, value=value, statement=statement):
                return Define(symbol, self.maybe(value), statement)
            case Write(pointer=pointer, value=value, mask=mask, statement=statement, atomic=atomic):
                return Write(self.expr(pointer), self.expr(value), self.maybe(mask), statement, atomic)
            case Loop(carried=carried, condition=condition, body=body, statement=statement):
                starts = [Carried(self.expr(c.before), c.inside, c.last, c.after, c.counter) for c in carried]
                return Loop(starts, self.maybe(condition), self.block(body), statement)
            case Branch():
                arms = self.block(item.then), self.block(item.otherwise)
                merges = [Merge(each.after, each.yes, each.no) for each in item.merges]
                return Branch(self.expr(item.condition), *arms, merges, item.statement)

    def block(self, items: Iterable[Item]) -> list[Item]:
        return [self.item(item) for item in items]

    def loop_gone(self, loop: Loop) -> list[Item]:
        """The body of a loop in iteration ``step``, which is the program's id along the axis."""
        where = replace(loop.statement.span, end=loop.statement.span.start)
        step = Symbol("step", INT, where)
        number = Call(where, INT, "program_id", (Literal(where, INT, self.axis),))
        items: list[Item] = [Define(step, number, Declare(where, step, number))]
        inner = {item.symbol: item.value for item in loop.body if isinstance(item, Define)}
        changing = {*inner, *(each.inside for each in loop.carried if each.last is not each.inside)}
        for each in loop.carried:
            value = _in_iteration(each, inner, changing, Name(where, INT, step))
            if value is None:
                self.result.unknown.append(each.inside)
            statement = Declare(loop.statement.span, each.inside, None)
            items.append(Define(each.inside, self.maybe(value), statement))
        items += self.block(loop.body)
        for each in loop.carried:
            last = Name(where, each.last.type, each.last)
            items.append(Define(each.after, last, Declare(where, each.after, last)))
        return items


def _in_iteration(
    each: Carried, inner: Mapping[Symbol, Expr | None], changing: set[Symbol], step: Name
) -> Expr | None:
    """What is carried into iteration ``step``: the start and so many increments; None where it is not that."""
    if each.last is each.inside:
        return each.before
    element = element_of(each.inside.type)
    whole = isinstance(element, PointerType) or (isinstance(element, ScalarType) and element.is_integer)
    increments: list[tuple[str, Expr]] = []
    at = each.last
    while at is not each.inside:
        value = inner.get(at)
        if not whole or not isinstance(value, Binary) or value.operator not in ("+", "-"):
            return None
        if (
            not isinstance(value.left, Name)
            or has_memory(value.right)
            or not names(value.right).isdisjoint(changing)
        ):
            return None
        increments.append((value.operator, value.right))
        at = value.left.symbol
    result = each.before
    wide = LONG if isinstance(element, PointerType) else element
    for operator, right in reversed(increments):
        product = _times(right, step, wide)
        if operator == "+" and isinstance(result, Literal) and result.value == 0:
            result = product
        else:
            result = Binary(step.span, each.inside.type, operator, result, product)
    return result


def _times(expr: Expr, step: Name, element: object) -> Expr:
    """An increment times the number of an iteration, in a type that holds it."""
    assert isinstance(element, ScalarType)
    if isinstance(expr, Broadcast):
        inner = _times(expr.operand, step, element)
        return Broadcast(inner.span, with_element(element, shape_of(expr.type)), inner)
    type_ = with_element(element, shape_of(expr.type))
    of = element_of(expr.type)  # type: ignore[arg-type]
    left = expr if of == element else Cast(expr.span, type_, expr)
    right: Expr = step
    if element != INT:  # written out: an offset may be large though the increment is not
        right = Cast(replace(step.span, end=step.span.end + 1), element, step)
    if shape_of(expr.type):
        right = Broadcast(right.span, type_, right)
    if isinstance(expr, Literal) and expr.value == 1:
        return right
    return Binary(step.span, type_, "*", left, right)


# ---------------------------------------------------------------- lines


class NotWalked(Exception):
    """What is summed depends on the program that adds to it."""


def walked(
    lines: Sequence[Line], head: Given, count: Formula, step: Formula, variables: list[Variable], said: str
) -> list[Line]:
    """The lines, walked: ``head`` declares the program that a loop begins with, up to ``count``, by ``step``.

    Raises NotWalked where a sum cannot be taken out of the loop.
    """
    program = head.variable.number
    inner = _depending(lines, program)
    before = [line for line in lines if not _inside(line, inner) and not _sums(line)]
    body: list[Line] = []
    after: list[Line] = []
    for line in lines:
        if _sums(line):
            assert isinstance(line, Put)
            start, add, put = _taken_out(line, lines, body, inner, variables)
            before.append(start)
            after.append(put)
            own = [each for each in body if _gives(each, add.number)]
            body = [add if each in own else each for each in body] + ([] if own else [add])
        elif _inside(line, inner):
            if any(_sums(each) for each in _blocks(line)):
                raise NotWalked
            body.append(line)
    assert head.value is not None
    test = condition("<", _named(head.variable, head.value), count)
    loop = Repeat([head], test, body, [Update(program, step, adds=True)], above=(said,))
    return [*before, loop, *after]


def _sums(line: Line) -> bool:
    return isinstance(line, Put) and line.summed


def _blocks(line: Line) -> Iterable[Line]:
    """What stands inside a loop or a branch, at any depth."""
    inner: list[Line] = []
    if isinstance(line, Repeat):
        inner = line.body
    elif isinstance(line, Choose):
        inner = [*line.then, *line.otherwise]
    for each in inner:
        yield each
        yield from _blocks(each)


def _sets(line: Line) -> set[int]:
    """The variables that a line declares or changes."""
    result = {inner for each in _blocks(line) for inner in _sets(each)}
    if isinstance(line, Given):
        result.add(line.variable.number)
    elif isinstance(line, Update):
        result.add(line.number)
    elif isinstance(line, Repeat):
        result |= {head.variable.number for head in line.heads} | {step.number for step in line.steps}
    return result


def _depending(lines: Sequence[Line], program: int) -> set[int]:
    """The variables whose values depend on the program."""
    found = {program}
    while True:
        more = {number for line in lines if _inside(line, found) for number in _sets(line)}
        if more <= found:
            return found
        found |= more


def _inside(line: Line, depending: set[int]) -> bool:
    if isinstance(line, Put) and not line.summed:
        return True
    if isinstance(line, Put):
        return False
    has_put = any(isinstance(each, Put) for each in _blocks(line))
    return has_put or not depending.isdisjoint(read_by([line]) | _sets(line))


def _gives(line: Line, number: int) -> bool:
    return isinstance(line, Given) and line.variable.number == number


def _taken_out(
    put: Put, lines: Sequence[Line], body: Sequence[Line], inner: set[int], variables: list[Variable]
) -> tuple[Given, Update, Put]:
    """The sum before the loop, in it, and after it; where the value has a variable of its own, that is the sum."""
    zero = constant("0")
    if not inner.isdisjoint(read_by([dataclasses.replace(put, value=zero)])):
        raise NotWalked
    own = next((line for line in body if isinstance(line, Given) and _is(put.value, line)), None)
    if own is not None and own.value is not None and own.variable.shape == put.pointer.shape:
        number = own.variable.number
        others = [line for line in lines if line is not put]
        if number not in read_by(others) and not any(_changes(line, number) for line in others):
            return Given(own.variable, zero), Update(number, own.value, adds=True, about=own.about), put
    variable = Variable(len(variables), "total", str(put.value.scalar), "", put.pointer.shape)
    variables.append(variable)
    total = _named(variable, put.value)
    add = Update(variable.number, put.value, adds=True, about=put.about)
    return Given(variable, zero), add, dataclasses.replace(put, value=total)


def _named(variable: Variable, value: Formula) -> Formula:
    """A variable that holds what a formula does."""
    return Formula(marked(variable.number), POSTFIX, value.element, variable.shape)


def _is(value: Formula, line: Given) -> bool:
    return value.text == marked(line.variable.number)


def _changes(line: Line, number: int) -> bool:
    return not isinstance(line, Given) and number in _sets(line)
