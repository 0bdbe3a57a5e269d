"""Barriers between accesses of different threads of a program to the same memory (docs/language.md).

A Triton-C program is one thread over blocks; Triton spreads its blocks over many threads. Nothing orders an access
after an earlier one of another thread, so a barrier goes before a statement if

- it may access memory that an access since the last barrier may have accessed, one of the two writes, and the two
  do not use the identical block of pointers, each thread its own elements (``Owners``; a scalar is stored by
  one thread and loaded by all, so for scalars this holds only between two stores);
- it is ``atomic_xchg``, which releases what was stored before (except by scalar atomics, which one thread executes
  in order), or follows ``atomic_cas``, which acquires.

Accesses of two iterations of a loop that are proven disjoint (overlap.py) do not meet. The body of a loop is
visited until an iteration leaves nothing that it did not start with, in most cases twice. In a nest each loop
multiplies the work, so it is limited: beyond that, anything may have been accessed before an iteration.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import product

from pytriton.frozen import record, replace
from pytriton.lang.recording import compare
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import INT, VOID, BlockType, PointerType, ScalarType, shape_of
from pytriton.lang.tree.walk import (
    assigned,
    assigned_once,
    bodies,
    children,
    expressions,
    inside,
    names,
    statements,
    walk,
    with_children,
)
from pytriton.passes.analysis.affine import Keys
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.analysis.queries import Once, has_load, nodes, unless_changed, with_body
from pytriton.passes.memory.overlap import Loop, Overlap
from pytriton.passes.memory.provenance import Provenance, may_meet
from pytriton.source import Source, Span

# ---------------------------------------------------------------- owners
# Does each thread of a program access only its own elements of a block?
#
# A block with at least as many elements as the program has threads has one layout for its loads and stores: the
# thread that stores an element also loads it. In a smaller block Triton lets many threads load each element, in the
# layout that the use needs, and even repeats the load for each use, while one thread stores it. Then a store
# through the same pointers is ordered only after a load whose value is used only, element by element, in the stored
# value (seen in generated code for sm_90: blocks of 16 and of 1024 elements, 4 warps).


_MAX_THREADS = 1024  # 32 warps


class Owners:
    """Answers for the blocks of one kernel. ``portable``: blocks may have other sizes than here."""

    def __init__(self, kernel: typed.KernelDef, portable: bool) -> None:
        self._kernel = kernel
        self._portable = portable

    @cached_property
    def _reads(self) -> Counter[typed.Symbol]:
        return Counter(name.symbol for name in nodes(self._kernel.body, typed.Name))

    @cached_property
    def _once(self) -> set[int]:
        return {id(statement) for statement in assigned_once(self._kernel.body)}

    def one_each(self, pointer: typed.Expr) -> bool:
        """Whether the block has an element for every thread."""
        return not self._portable and compare(
            math.prod(shape_of(pointer.type)), ">=", _MAX_THREADS, optional=False
        )

    def only_into(
        self, load: typed.Load | None, statement: typed.Statement | None, store: typed.Statement | None
    ) -> bool:
        """Whether a loaded value is used only in the value of a store, element by element."""
        if load is None or not isinstance(store, typed.Store):
            return False
        leaves = list(_elementwise(store.value))
        if statement is store:
            return any(leaf is load for leaf in leaves)
        if not isinstance(statement, typed.Declare | typed.Assign) or statement.value is None:
            return False
        if id(statement) not in self._once or not any(leaf is load for leaf in _elementwise(statement.value)):
            return False
        return self._reads[statement.symbol] == _count(leaves, statement.symbol)


def _elementwise(expr: typed.Expr) -> Iterator[typed.Expr]:
    """The operands of a tree of elementwise operators."""
    if isinstance(expr, typed.Unary | typed.Binary | typed.Select | typed.Call | typed.Cast | typed.Bitcast):
        for child in children(expr):
            yield from _elementwise(child)
    else:
        yield expr


def _count(leaves: list[typed.Expr], symbol: typed.Symbol) -> int:
    return sum(isinstance(leaf, typed.Name) and leaf.symbol is symbol for leaf in leaves)


# ---------------------------------------------------------------- separate
# A statement whose own accesses may overlap -> statements of one access each, with room for barriers in between.
#
#     *(Y + r) = *(Y + 7 - r);                value = *(Y + 7 - r); *(Y + r) = value;
#     atomic_add(Y + 7 - r, *(Y + r));        value = *(Y + r); atomic_add(Y + 7 - r, value);
#
# Operands come first, from left to right; a store comes last.


def in_parts(statement: typed.Statement) -> typed.Body:
    """Equivalent statements of one access each; the statement itself if it has only one."""
    parts = _Parts(statement)
    last: typed.Statement = statement
    match statement:
        case typed.Store():
            last = parts.store(statement)
        case typed.Declare(value=value) | typed.Assign(value=value) | typed.Evaluate(value=value) if (
            value is not None
        ):
            value = with_children(value, parts.single)
            last = replace(statement, value=value, comments=parts.comments)
        case typed.If(condition=condition):
            condition = parts.single(condition)
            last = replace(statement, condition=condition, comments=parts.comments)
    return (*parts.hoisted, last)


class _Parts:
    """``hoisted``: the statements before the last one. The first of all has the comments."""

    def __init__(self, statement: typed.Statement) -> None:
        self.span = statement.span
        self.comments = statement.comments
        self.hoisted: list[typed.Declare] = []

    def store(self, store: typed.Store) -> typed.Store:
        """A store without loads: its value and its mask are computed before, as a whole."""
        value, mask = self._whole("value", store.value), store.mask and self._whole("mask", store.mask)
        pointer = self.single(store.pointer, "index")
        return replace(store, pointer=pointer, value=value, mask=mask, comments=self.comments)

    def single(self, expr: typed.Expr, name: str = "value") -> typed.Expr:
        """The expression, with each of its loads and atomics in a statement of its own."""
        if not isinstance(expr, typed.Load):
            expr = with_children(expr, lambda child: self.single(child, name))
        return self._hoisted(name, expr) if isinstance(expr, typed.Load | typed.Atomic) else expr

    def _whole(self, name: str, expr: typed.Expr) -> typed.Expr:
        return self._hoisted(name, expr) if has_load(expr) else expr

    def _hoisted(self, name: str, expr: typed.Expr) -> typed.Name:
        assert isinstance(expr.type, ScalarType | PointerType | BlockType)
        symbol = typed.Symbol(name, expr.type, self.span)
        self.hoisted.append(typed.Declare(self.span, symbol, expr, self.comments))
        self.comments = typed.Comments()
        return typed.Name(expr.span, expr.type, symbol)


def barriers(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel with the barriers that its memory accesses need."""
    body = _Order(kernel, Provenance(kernel), context.settings.portable).body(kernel.body, _State())
    return kernel if body is kernel.body else replace(kernel, body=body)


_MEMORY = frozenset((typed.Load, typed.Atomic))
# With more loads or stores than this since the last barrier, comparing them costs more than a barrier.
_MAX_ACCESSES = 32
# Statements that may be visited, beside two visits of each.
_MAX_VISITS = 2_500


@record
class _Pointer:
    """A pointer, the parameters that it may point into, and the variables that it reads."""

    expr: typed.Expr
    roots: frozenset[typed.Symbol] | None
    symbols: frozenset[typed.Symbol]


@record
class _Access:
    """One access and when it was seen. Atomics are ordered among themselves."""

    pointer: _Pointer
    writes: bool
    atomic: bool = False
    time: int = 0
    statement: typed.Statement | None = None
    load: typed.Load | None = None
    loop: Loop | None = None  # it happened in an earlier iteration of this one

    @property
    def of_any(self) -> bool:
        """Whether it stands for any access, before all assignments."""
        return self.time < 0

    def at(self, time: int, loop: Loop | None = None) -> _Access:
        """The same access at another time."""
        return (
            self
            if self.of_any
            else _Access(self.pointer, self.writes, self.atomic, time, self.statement, self.load, loop)
        )


_ANYWHERE = _Pointer(typed.Literal(Span(Source("", ""), 0, 0), INT, 0), None, frozenset())
_ANY_READ, _ANY_WRITE = (_Access(_ANYWHERE, writes, time=-1) for writes in (False, True))


@record
class _Effects:
    """What one statement itself does: its accesses in order, what it stores last, and its atomics."""

    accesses: tuple[_Access, ...]
    operations: set[str]
    split: bool = False  # a barrier is needed between its accesses


_Identity = tuple[int, ...]


def _identity(access: _Access) -> _Identity:
    """Equal for accesses that differ only in when they were seen."""
    return (
        *map(id, (access.pointer, access.statement, access.load, access.loop)),
        access.writes,
        access.atomic,
    )


@dataclasses.dataclass(slots=True)
class _State:
    """The accesses since the last barrier by their identity, and whether a lock was taken since."""

    reads: dict[_Identity, _Access] = dataclasses.field(default_factory=dict)
    writes: dict[_Identity, _Access] = dataclasses.field(default_factory=dict)
    acquired: bool = False

    @property
    def all(self) -> list[_Access]:
        return [*self.reads.values(), *self.writes.values()]

    def covers(self, other: _State) -> bool:
        """Whether all of the other state is in this one."""
        pairs = ((self.reads, other.reads, _ANY_READ), (self.writes, other.writes, _ANY_WRITE))
        if not all(_identity(any_) in mine or theirs.keys() <= mine.keys() for mine, theirs, any_ in pairs):
            return False
        return other.acquired <= self.acquired

    def copy(self) -> _State:
        return _State(dict(self.reads), dict(self.writes), self.acquired)

    def add(self, access: _Access) -> None:
        """One more access; if there are too many, one of any memory replaces them.

        If it was seen before, the earlier time counts, after which more variables may have changed.
        """
        accesses, any_ = (self.writes, _ANY_WRITE) if access.writes else (self.reads, _ANY_READ)
        identity = _identity(access)
        if identity in accesses:
            if access.time < accesses[identity].time:
                accesses[identity] = access
        elif access is any_ or len(accesses) > _MAX_ACCESSES:
            accesses.clear()
            accesses[_identity(any_)] = any_
        elif _identity(any_) not in accesses:
            accesses[identity] = access

    def join(self, other: _State) -> _State:
        """This state with the accesses of the other one, as either path may have been taken."""
        for access in other.all:
            self.add(access)
        self.acquired |= other.acquired
        return self

    def carried(self, before: _State, loop: Loop, start: int) -> None:
        """Date accesses that were not there before the loop back to its ``start``, in an earlier iteration."""
        earlier = set(map(id, before.all))
        self._replace(
            [
                access if id(access) in earlier else access.at(min(access.time, start), loop)
                for access in self.all
            ]
        )

    def left(self, loop: Loop) -> None:
        """Drop the marks after the loop."""
        self._replace([access.at(access.time) if access.loop is loop else access for access in self.all])

    def _replace(self, accesses: list[_Access]) -> None:
        self.reads, self.writes = {}, {}
        for access in accesses:
            self.add(access)

    def clear(self) -> None:
        self.reads, self.writes, self.acquired = {}, {}, False


class _Order:
    def __init__(self, kernel: typed.KernelDef, provenance: Provenance, portable: bool) -> None:
        self.provenance = provenance
        self.owners = Owners(kernel, portable)
        self.keys = Keys()
        self.overlap = Overlap(kernel, self.keys)
        self._values: dict[typed.Symbol, typed.Expr] = {}  # the last values, if the same on all paths
        self._visits = _MAX_VISITS + 2 * len(statements(kernel.body))  # that are left
        self._clock = 0
        self._assigned: dict[typed.Symbol, int] = {}  # when a variable was assigned last
        self._pointers: Once[typed.Expr, _Pointer] = Once()
        self._effects: Once[typed.Statement, _Effects] = Once()
        self._parts: Once[typed.Statement, typed.Body] = Once()  # the same in every visit of a loop

    def body(self, body: typed.Body, state: _State) -> typed.Body:
        """The statements with their barriers; ``state`` becomes the one after them."""
        result: list[typed.Statement] = []
        self._visits -= len(body)
        for statement in body:
            if _is_barrier(statement):
                state.clear()
                result.append(statement)
                continue
            effects = self._effects(self._effects_of, statement)
            if effects.split:  # barriers go in between
                result += self.body(self._parts(in_parts, statement), state)
                continue
            if effects.accesses:
                own = [access.at(self._clock) for access in effects.accesses]
                reason = self._reason(effects.operations, own, state)
                if reason:
                    barrier = typed.Call(statement.span, VOID, "barrier", ())
                    result.append(typed.Evaluate(statement.span, barrier, typed.Comments((), (reason,))))
                    state.clear()
                for access in own:
                    state.add(access)
                state.acquired |= "cas" in effects.operations
            if isinstance(statement, typed.Declare | typed.Assign | typed.RangeLoop):
                self._clock += 1
                self._assigned[statement.symbol] = self._clock
                self._learn(statement)
            result.append(self._inner(statement, state) if bodies(statement) else statement)
        return unless_changed(body, result)

    def _learn(self, statement: typed.Declare | typed.Assign | typed.RangeLoop) -> None:
        value = None if isinstance(statement, typed.RangeLoop) else statement.value
        if value is None:
            self._values.pop(statement.symbol, None)
        else:
            self._values[statement.symbol] = value

    def _forget(self, body: typed.Body) -> None:
        for symbol in assigned(body):
            self._values.pop(symbol, None)

    def _inner(self, statement: typed.Statement, state: _State) -> typed.Statement:
        match statement:
            case typed.If():
                other = state.copy()
                then = self.body(statement.then, state)
                self._forget(statement.then)
                otherwise = self.body(statement.otherwise, other)
                self._forget(statement.otherwise)
                state.join(other)
                return replace(statement, then=then, otherwise=otherwise)
            case typed.For():
                init = self.body(statement.init, state)
                body, step = self._loop(statement, (statement.body, statement.step), state)
                return replace(statement, init=init, body=body, step=step)
            case typed.RangeLoop() | typed.While():
                (body,) = self._loop(statement, (statement.body,), state)
                return with_body(statement, body)
            case typed.DoWhile():
                raise AssertionError("passes/lower/jumps.py leaves none")
            case _:
                return statement

    def _loop(self, loop: Loop, parts: tuple[typed.Body, ...], state: _State) -> list[typed.Body]:
        """The parts of an iteration with their barriers; ``state`` becomes that after the loop.

        An iteration starts in the state before the loop or in that after an iteration. Where a barrier goes depends
        on that state, and the state after an iteration on its barriers: so the parts are visited until nothing is
        after them that they did not start with. What was accessed before an iteration may have been so before any
        assignment in the loop.
        """
        iteration = _one_iteration(loop)
        self.overlap.enter(loop, self._values)
        self._forget(iteration)
        moving = assigned(iteration) | ({loop.symbol} if isinstance(loop, typed.RangeLoop) else set())
        condition = None if isinstance(loop, typed.RangeLoop) else loop.condition
        test = (typed.Evaluate(loop.span, condition),) if condition is not None else ()
        before, entry, start = state.copy(), state.copy(), self._clock
        self._clock += 1
        self._assigned.update(dict.fromkeys(moving, self._clock))
        while True:
            last = self._visits <= 0
            if last:
                entry.add(_ANY_WRITE)
            after = entry.copy()
            result = [self.body(part, after) for part in parts]
            result[-1] += self.body(test, after)[:-1]  # the barrier before the test, if it needs one
            self._forget(iteration)
            carried = after.copy()
            carried.carried(before, loop, start)
            if last or entry.covers(carried):
                break
            entry.join(carried)
        state.reads, state.writes, state.acquired = after.reads, after.writes, after.acquired
        state.join(entry)
        state.left(loop)
        return result

    def _reason(self, operations: set[str], own: list[_Access], state: _State) -> str:
        """The comment on the barrier before these accesses; empty if none is needed."""
        if state.acquired and ("cas" not in operations or any(access.load is not None for access in own)):
            return "nothing below begins before the lock is taken"
        if "xchg" in operations and not all(map(_by_first_thread, state.all)):
            return "all above is done before the lock is released"
        writes = list(state.writes.values())
        for access in own:
            for earlier in (*writes, *state.reads.values()) if access.writes else writes:
                if self._conflict(earlier, access):
                    return _meeting(earlier, access)
        return ""

    def _conflict(self, earlier: _Access, later: _Access) -> bool:
        if not (earlier.writes or later.writes) or (earlier.atomic and later.atomic):
            return False
        first, second = earlier.pointer, later.pointer
        if not may_meet(first.roots, second.roots):
            return False
        if self._changed(first) <= earlier.time and self._changed(second) <= earlier.time:
            if self.keys.of(first.expr) == self.keys.of(second.expr):
                if self._by_one_thread(earlier, later):
                    return False
            elif self.overlap.disjoint(first.expr, second.expr):
                return False
        return earlier.loop is None or not self._in_other_iterations(earlier.loop, earlier, later)

    def _in_other_iterations(self, loop: Loop, earlier: _Access, later: _Access) -> bool:
        """Whether two accesses are disjoint because they belong to different iterations."""
        if earlier.statement is None or later.statement is None:
            return False
        first, second = (earlier.pointer.expr, earlier.statement), (later.pointer.expr, later.statement)
        return self.overlap.disjoint_in_iterations(loop, first, second)

    def _by_one_thread(self, earlier: _Access, later: _Access) -> bool:
        """Whether the same thread makes both accesses to each element, through identical pointers."""
        if earlier.writes and later.writes and not earlier.atomic and not later.atomic:
            return True
        if not isinstance(later.pointer.expr.type, BlockType):
            return False
        only = later.writes and self.owners.only_into(earlier.load, earlier.statement, later.statement)
        return only or self.owners.one_each(later.pointer.expr)

    def _pointer(self, expr: typed.Expr) -> _Pointer:
        """A pointer with its roots and variables."""
        return self._pointers(lambda expr: _Pointer(expr, self.provenance.roots(expr), names(expr)), expr)

    def _changed(self, pointer: _Pointer) -> int:
        """When a variable that the pointer reads was assigned last."""
        return max([self._assigned.get(symbol, 0) for symbol in pointer.symbols], default=0)

    def _effects_of(self, statement: typed.Statement) -> _Effects:
        """The effects of a statement itself."""
        if not isinstance(statement, typed.Store) and _MEMORY.isdisjoint(inside(statement).kinds):
            return _Effects((), set())
        accesses: list[_Access] = []
        operations: set[str] = set()
        for node in _own_nodes(statement):
            if isinstance(node, typed.Load):
                accesses.append(
                    _Access(self._pointer(node.pointer), writes=False, statement=statement, load=node)
                )
            elif isinstance(node, typed.Atomic):
                accesses.append(_Access(self._pointer(node.pointer), writes=True, atomic=True))
                operations.add(node.operation)
        written: list[_Access] = []
        if isinstance(statement, typed.Store):
            written.append(_Access(self._pointer(statement.pointer), writes=True, statement=statement))
        split = not isinstance(statement, typed.RangeLoop) and self._meets_itself(
            statement, accesses, written
        )
        return _Effects((*accesses, *written), operations, split)

    def _meets_itself(
        self, statement: typed.Statement, accesses: list[_Access], stored: list[_Access]
    ) -> bool:
        """Whether a barrier is needed between the accesses of one statement."""
        if not accesses or not (stored or any(access.atomic for access in accesses)):
            return False
        atomics = [access.at(self._clock) for access in accesses if access.atomic]
        loads = [access.at(self._clock) for access in accesses if access.load is not None]
        stored = [access.at(self._clock) for access in stored]
        if atomics and loads and _locks(statement, {id(access.load) for access in loads}):
            return True
        pairs = (*product(loads, atomics + stored), *product(atomics, stored))
        return any(self._conflict(first, then) for first, then in pairs)


def _meeting(earlier: _Access, later: _Access) -> str:
    """The two accesses in words: ``X is read above and written below``."""
    if earlier.of_any:
        return "some of the many accesses above may meet those below"
    where = "above" if earlier.loop is None else "by an earlier iteration"
    first, second = _memory(earlier), _memory(later)
    if first != second:
        return f"{first}, {_done(earlier)} {where}, may overlap {second}, {_done(later)} below"
    below = "below" if _done(earlier) == _done(later) else f"{_done(later)} below"
    return f"{first} is {_done(earlier)} {where} and {below}"


def _memory(access: _Access) -> str:
    """The names of the parameters that an access may reach."""
    names = sorted(root.name for root in access.pointer.roots or ())
    return " or ".join(names) or "memory"


def _done(access: _Access) -> str:
    return "updated" if access.atomic else "written" if access.writes else "read"


def _one_iteration(loop: Loop) -> typed.Body:
    """The statements of an iteration without the condition."""
    return loop.body + loop.step if isinstance(loop, typed.For) else loop.body


def _by_first_thread(access: _Access) -> bool:
    """Whether the thread that executes all scalar atomics, in program order, makes an access."""
    return access.atomic and not isinstance(access.pointer.expr.type, BlockType)


def _locks(statement: typed.Statement, loads: set[int]) -> bool:
    """Whether a statement releases a lock, or takes one, and also loads something."""
    nodes = list(_own_nodes(statement))
    atomics = [node for node in nodes if isinstance(node, typed.Atomic)]
    if any(atomic.operation == "xchg" for atomic in atomics):
        return True
    taking = [atomic for atomic in atomics if atomic.operation == "cas"]
    before = {id(node) for atomic in taking for node in walk(atomic)}
    return bool(taking) and not loads <= before


def _own_nodes(statement: typed.Statement) -> Iterator[typed.Expr]:
    """Every expression node of a statement itself, without the blocks inside it."""
    for expr in expressions((statement,), deep=False):
        yield from walk(expr)


def _is_barrier(statement: typed.Statement) -> bool:
    value = statement.value if isinstance(statement, typed.Evaluate) else None
    return isinstance(value, typed.Call) and value.function == "barrier"
