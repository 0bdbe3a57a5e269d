"""Effects are neither lost nor repeated: an invariant that conftest.py checks in every translation of the tests.

The effects of a kernel are its atomics, stores, printfs, barriers and assignments, by their places in the source.
``Counts`` has how often each is met on a path: at least and at most outside of loops, and at most in one iteration
of a loop. They are counted here, without the code under test, at every stage:

- in the syntax and in the typed tree, with effects anywhere in expressions: as many of each;
- there and after ``in_order``: equal on every path, and each where one may be;
- before and after each pass: equal, but for what a pass exists for (``_MAY``);
- in the final tree and in the printed module: as many calls.
"""

from __future__ import annotations

import dataclasses
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import ParamSpec
from unittest import mock

import pytriton.lang.check.checker
import pytriton.passes
import pytriton.pipeline
from pytriton.emit.module import Module
from pytriton.emit.printer import printed
from pytriton.lang.parse import syntax
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import VOID
from pytriton.lang.tree.walk import bodies, children, expressions, kinds, statements, walk
from pytriton.passes import PassContext
from pytriton.source import Span

__all__ = ["Counts", "Lost", "misplaced", "watched"]

Key = tuple[str, int, int, str]
_KINDS = ("atomic", "printf", "barrier")
_MAY = {
    "unreached": "drops what never runs",
    "jumps": "guards what follows a jump",
    "guard": "guards a loop",
}


class Lost(AssertionError):
    """An effect was lost, repeated or moved."""


Given = ParamSpec("Given")


def _uncounted(check: Callable[Given, None]) -> Callable[Given, None]:
    """A check that is no part of the work whose steps a test may count (tests/work.py)."""

    @wraps(check)
    def unseen(*args: Given.args, **kwargs: Given.kwargs) -> None:
        trace = sys.gettrace()
        sys.settrace(None)
        try:
            check(*args, **kwargs)
        finally:
            sys.settrace(trace)

    return unseen


def _key(kind: str, node: typed.Expr | typed.Statement | syntax.Expr) -> Key:
    return kind, node.span.start, node.span.end, node.span.source.name


@dataclass
class Counts:
    """Of each effect: the least and the most on a path outside of loops, the most in one iteration."""

    least: Counter[Key] = field(default_factory=Counter)
    most: Counter[Key] = field(default_factory=Counter)
    inside: Counter[Key] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        self.least.update(other.least)
        self.most.update(other.most)
        self.inside |= other.inside

    def met(self, kind: str, node: typed.Expr | typed.Statement) -> None:
        key = _key(kind, node)
        self.least[key] += 1
        self.most[key] += 1


def counted(body: typed.Body, sets: bool = False) -> Counts:
    """The counts of statements; ``sets``: assignments are effects, too."""
    counts = Counts()
    _add(counts, body, sets)
    return counts


def _add(counts: Counts, body: typed.Body, sets: bool) -> None:
    for statement in body:
        if isinstance(statement, _LOOPS):
            inner = bodies(statement)
            if isinstance(statement, typed.For):
                _add(counts, inner[0], sets)
            once = Counts()
            _of(once, statement, sets)
            for block in inner[isinstance(statement, typed.For) :]:
                _add(once, block, sets)
            counts.inside |= once.inside | once.most
            continue
        _of(counts, statement, sets)
        if isinstance(statement, typed.Store):
            counts.met("store", statement)
        elif isinstance(statement, typed.Assign):
            if sets:
                counts.met("assign", statement)
        elif isinstance(statement, typed.If):
            then, otherwise = counted(statement.then, sets), counted(statement.otherwise, sets)
            counts.add(
                Counts(
                    then.least & otherwise.least, then.most | otherwise.most, then.inside | otherwise.inside
                )
            )


def _of(counts: Counts, statement: typed.Statement, sets: bool) -> None:
    """Adds what the statement's own expressions do."""
    for expr in expressions((statement,), deep=False):
        if _EFFECTS.isdisjoint(kinds(expr)):
            continue
        for node in walk(expr):
            if isinstance(node, typed.Sequenced):
                _add(counts, node.statements, sets)
            elif isinstance(node, typed.Atomic):
                counts.met(node.operation, node)
            elif isinstance(node, typed.Call) and node.function in _KINDS:
                counts.met(node.function, node)


_LOOPS = (typed.For, typed.While, typed.DoWhile, typed.RangeLoop)
_EFFECTS = frozenset((typed.Sequenced, typed.Atomic, typed.Call))


# ---------------------------------------------------------------- the rules


def misplaced(body: typed.Body) -> list[str]:
    """What breaks the invariant of lang/tree/effects.py: the effects in what must be pure."""
    wrong: list[str] = []
    for statement in statements(body):
        for expr in expressions((statement,), deep=False):
            inner = [expr]
            if isinstance(statement, typed.Declare | typed.Assign | typed.Evaluate | typed.For | typed.While):
                inner = list(children(_atomic(expr, isinstance(statement, typed.For | typed.While))))
            for part in inner:
                for node in walk(part):
                    if isinstance(node, typed.Atomic | typed.Sequenced) or node.type == VOID:
                        wrong.append(f"{statement.span.text!r} holds {node.span.text!r}")
    return wrong


def _atomic(expr: typed.Expr, tested: bool) -> typed.Expr:
    """What is converted or, in the condition of a loop, compared with something simple."""
    match expr:
        case typed.Cast(operand=operand):
            return _atomic(operand, tested)
        case typed.Unary(operator="!", operand=operand) if tested:
            return _atomic(operand, tested)
        case typed.Binary(left=left, right=typed.Name() | typed.Literal() | typed.Constexpr()) if tested:
            return _atomic(left, tested)
    return expr


@_uncounted
def _checked(body: syntax.Block, tree: typed.Body) -> None:
    first, second = Counter(_written(body)), Counter(_found(tree))
    if first != second:
        raise Lost(f"not in the typed tree: {first - second}; not in the source: {second - first}")


def _written(node: object) -> Iterator[Key]:
    """The effects in the syntax, but for what is not evaluated."""
    pending = [node]
    while pending:
        node = pending.pop()
        match node:
            case syntax.SizeOf():
                continue
            case syntax.Call(callee=syntax.Name(id=name) | syntax.Call(callee=syntax.Name(id=name))):
                kind = next((kind for kind in _KINDS if kind in name), None)
                if kind is not None:
                    yield _key(kind, node)
                node = node.arguments
            case syntax.Assign() | syntax.Postfix() | syntax.Prefix(operator="++" | "--"):
                yield _key("set", node)
        if isinstance(node, tuple):
            pending += node
        else:
            pending += [getattr(node, name) for name in _fields(type(node))]


@cache
def _fields(node: type) -> tuple[str, ...]:
    """What may hold effects in a class of nodes."""
    if node is Span or not dataclasses.is_dataclass(node):
        return ()
    return tuple(item.name for item in dataclasses.fields(node) if item.name != "span")


def _found(body: typed.Body) -> Iterator[Key]:
    """The same in the typed tree."""
    for statement in statements(body):
        if isinstance(statement, typed.Assign | typed.Store):
            yield _key("set", statement)
        for expr in expressions((statement,), deep=False):
            for node in () if _EFFECTS.isdisjoint(kinds(expr)) else walk(expr):
                if isinstance(node, typed.Atomic):
                    yield _key("atomic", node)
                elif isinstance(node, typed.Call) and node.function in _KINDS:
                    yield _key(node.function, node)
                elif isinstance(node, typed.Sequenced):
                    yield from _found(node.statements)


@_uncounted
def _in_order(before: typed.Body, after: typed.Body) -> None:
    first, second = counted(before, sets=True), counted(after, sets=True)
    if first != second:
        raise Lost(f"the order of evaluation changes effects:\n{first}\n{second}")
    if wrong := misplaced(after):
        raise Lost(f"effects where none may be: {wrong}")


@_uncounted
def _pass(name: str, before: typed.Body, after: typed.Body) -> None:
    first, second = counted(before), counted(after)
    if first == second:
        return
    for key in {*first.most, *first.inside, *second.most, *second.inside}:
        if key[0] == "barrier" and name == "barriers":
            continue
        least, most, inside = (counts[key] for counts in (first.least, first.most, first.inside))
        found = second.least[key], second.most[key], second.inside[key]
        if found == (least, most, inside):
            continue
        if name not in _MAY and not inside:
            raise Lost(f"{name} changes {key} from {least, most, inside} to {found}")
        if found[1] > most + inside or found[2] > inside:
            raise Lost(f"{name} repeats {key}: {least, most, inside}, then {found}")
        if name != "unreached" and not found[1] + found[2]:
            raise Lost(f"{name} loses {key}")


@_uncounted
def _printed(body: typed.Body, module: Module) -> None:
    nodes = [node for expr in expressions(body) for node in walk(expr)]
    atomics = Counter(node.operation for node in nodes if isinstance(node, typed.Atomic))
    stores = sum(isinstance(statement, typed.Store) for statement in statements(body))
    barriers = sum(isinstance(node, typed.Call) and node.function == "barrier" for node in nodes)
    code = re.sub(r"#.*", "", printed(module.tree)[0])
    code = code[code.index(f"def {module.tree.function}(") :]
    calls = Counter(re.findall(r"\b(?:tl\.|checked_)(atomic_\w+|store|debug_barrier)\(", code))
    wanted = Counter({f"atomic_{name}": count for name, count in atomics.items()})
    wanted += Counter({"store": stores, "debug_barrier": barriers})
    if calls != wanted:
        raise Lost(f"the module has the calls {calls} for {wanted}")


# ---------------------------------------------------------------- in every translation


@contextmanager
def watched() -> Iterator[None]:
    """Inside, every translation is checked."""
    kernel, in_order = pytriton.lang.check.checker._kernel, pytriton.lang.check.checker.in_order
    check, emit = pytriton.pipeline.check, pytriton.pipeline.emit
    here = threading.local()

    def of_syntax(node: syntax.Function, context: object) -> typed.KernelDef:
        here.syntax = node.body
        return kernel(node, context)

    def ordered(body: typed.Body) -> typed.Body:
        result = in_order(body)
        here.tree = body
        _in_order(body, result)
        return result

    def checked(*given: object) -> typed.KernelDef:
        result = check(*given)  # there are no errors
        _checked(here.syntax, here.tree)
        return result

    def run(kernel: typed.KernelDef, context: PassContext | None = None) -> typed.KernelDef:
        context = context or PassContext()
        for step in pytriton.passes.PASSES:
            if step.needed or not context.settings.traced:
                after = step.run(kernel, context)
                if after is not kernel:
                    _pass(step.name, kernel.body, after.body)
                kernel = after
        return kernel

    def emitted(kernel: typed.KernelDef, *rest: object) -> Module:
        module = emit(kernel, *rest)
        _printed(kernel.body, module)
        return module

    with (
        mock.patch.object(pytriton.lang.check.checker, "_kernel", of_syntax),
        mock.patch.object(pytriton.lang.check.checker, "in_order", ordered),
        mock.patch.object(pytriton.pipeline, "check", checked),
        mock.patch.object(pytriton.pipeline, "run", run),
        mock.patch.object(pytriton.pipeline, "emit", emitted),
    ):
        yield
