"""Barriers where one thread of a program may meet memory that another thread of it wrote (docs/language.md).

A Triton-C program is one thread over blocks; Triton spreads its blocks over many. Nothing orders an access after
an earlier one made by other threads, so a barrier goes before a statement when

- it may touch memory that an access since the last barrier may have touched, one of the two writes, and the two
  do not use the identical block of pointers, or do not meet in it thread by thread (barriers.py; a scalar is stored
  by one thread and loaded by all, so for scalars that helps only between two stores);
- it is ``atomic_xchg``, which releases what was stored before (scalar atomics aside: one thread makes them all, in
  order), or follows ``atomic_cas``, which acquires.

Accesses of two iterations of a loop that are shown disjoint (overlap.py) do not meet. The body of a loop is visited
until an iteration leaves nothing that it did not start with, at least twice. In a nest each loop multiplies the
work, so what a kernel may cost is limited: beyond that, a body is taken to do all that it does in any order.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import product

from pytriton.frozen import record, replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.types import VOID, BlockType, PointerType, ScalarType, shape_of
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
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import Once, has_load, nodes, unless_changed
from pytriton.passes.memory.overlap import Loop, Overlap
from pytriton.passes.memory.provenance import Provenance, may_meet

# ---------------------------------------------------------------- owners
# Does each thread of a program meet only its own elements of a block?
#
# A block with at least as many elements as the program has threads keeps one layout for its loads and stores: the
# thread that stores an element is the one that loads it. Of a smaller block Triton lets many threads load each
# element, in whatever layout the use wants, and even repeats the load for each use, while one thread stores it.
# Then a store through the same pointers is in order only after a load whose value goes nowhere but, element by
# element, into what is stored (seen in generated code for sm_90: blocks of 16 and of 1024 elements, 4 warps).


_MAX_THREADS = 1024  # 32 warps


class Owners:
    """Answers for the blocks of one kernel."""

    def __init__(self, kernel: typed.KernelDef) -> None:
        self._kernel = kernel

    @cached_property
    def _reads(self) -> Counter[typed.Symbol]:
        return Counter(name.symbol for name in nodes(self._kernel.body, typed.Name))

    @cached_property
    def _once(self) -> set[int]:
        return {id(statement) for statement in assigned_once(self._kernel.body)}

    def one_each(self, pointer: typed.Expr) -> bool:
        """Whether the block has an element for every thread."""
        return math.prod(shape_of(pointer.type)) >= _MAX_THREADS

    def only_into(
        self, load: typed.Load | None, statement: typed.Statement | None, store: typed.Statement | None
    ) -> bool:
        """Whether what a statement loads goes only into what a store writes, element by element."""
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
    """The operands at which operators that work element by element end."""
    if isinstance(expr, typed.Unary | typed.Binary | typed.Select | typed.Call | typed.Cast | typed.Bitcast):
        for child in children(expr):
            yield from _elementwise(child)
    else:
        yield expr


def _count(leaves: list[typed.Expr], symbol: typed.Symbol) -> int:
    return sum(isinstance(leaf, typed.Name) and leaf.symbol is symbol for leaf in leaves)


# ---------------------------------------------------------------- separate
# A statement that meets itself in memory -> statements of one access each, between which barriers fit.
#
#     *(Y + r) = *(Y + 7 - r);                value = *(Y + 7 - r); *(Y + r) = value;
#     atomic_add(Y + 7 - r, *(Y + r));        value = *(Y + r); atomic_add(Y + 7 - r, value);
#
# Operands come first, from left to right; a store comes last. passes/memory/barriers.py says what must be taken
# apart.


def in_parts(statement: typed.Statement) -> typed.Body:
    """The statements that do the same, one after the other; itself where there is nothing to take apart."""
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
    """``made``: what goes before it. The first of all parts has the statement's comments."""

    def __init__(self, statement: typed.Statement) -> None:
        self.span = statement.span
        self.comments = statement.comments
        self.hoisted: list[typed.Declare] = []

    def store(self, store: typed.Store) -> typed.Store:
        """A store without loads: its value and its mask are loaded whole."""
        value, mask = self._whole("value", store.value), store.mask and self._whole("mask", store.mask)
        pointer = self.single(store.pointer, "index")
        return replace(store, pointer=pointer, value=value, mask=mask, comments=self.comments)

    def single(self, expr: typed.Expr, name: str = "value") -> typed.Expr:
        """The expression, every load and every atomic of it in a statement of its own."""
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


def barriers(kernel: typed.KernelDef, _: Context) -> typed.KernelDef:
    """The kernel with the barriers that its memory accesses need."""
    provenance = Provenance(kernel)
    if provenance.all_apart(_MAX_SIMPLE_ACCESSES):
        return kernel
    return replace(kernel, body=_Order(kernel, provenance).body(kernel.body, _State()))


_MEMORY = frozenset((typed.Load, typed.Atomic))
# With more accesses than this since the last barrier, comparing them costs more than a barrier.
_MAX_ACCESSES = 32
# Statements that may be visited, beside two visits of each.
_MAX_VISITS = 5_000
# Visits of one loop; nearly all need two or three.
_MAX_VISITS_OF_A_LOOP = 6
# Accesses of a kernel that fill no state, though each visit of a loop leaves its own there.
_MAX_SIMPLE_ACCESSES = _MAX_ACCESSES // (_MAX_VISITS_OF_A_LOOP + 2)


@dataclasses.dataclass(slots=True, eq=False)
class _Pointer:
    """What is known of a pointer for good, and when one of its variables was ``changed``, as ``asked`` last."""

    expr: typed.Expr
    roots: frozenset[typed.Symbol] | None
    symbols: frozenset[typed.Symbol]
    asked: int = -1
    changed: int = 0


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

    def at(self, time: int, loop: Loop | None = None) -> _Access:
        """The same access, seen then."""
        return _Access(self.pointer, self.writes, self.atomic, time, self.statement, self.load, loop)


@record
class _Effects:
    """What one statement itself does: its accesses in order, what it stores last, and its atomics."""

    statement: typed.Statement
    accesses: tuple[_Access, ...]
    operations: set[str]
    split: bool = False  # some of it must be seen by all threads before the rest


@record
class _LoopEffects:
    """What a loop does in all."""

    accesses: list[_Access]
    acquires: bool
    assigned: list[typed.Symbol]


@dataclasses.dataclass(slots=True)
class _State:
    """The accesses since the last barrier, and whether a lock was taken since."""

    reads: list[_Access] = dataclasses.field(default_factory=list)
    writes: list[_Access] = dataclasses.field(default_factory=list)
    acquired: bool = False

    def copy(self) -> _State:
        return _State(list(self.reads), list(self.writes), self.acquired)

    def add(self, access: _Access) -> None:
        """One more access. Where there are more than ``_MAX_ACCESSES``, it matters no more which ones they are."""
        if self.has_room(access):
            (self.writes if access.writes else self.reads).append(access)

    def has_room(self, access: _Access) -> bool:
        """Whether it matters that this access is added."""
        return len(self.writes if access.writes else self.reads) <= _MAX_ACCESSES

    def join(self, other: _State, key: Callable[[_Access], object] = id) -> _State:
        """Either may have happened: itself, with the accesses of the other that it has none like by ``key``."""
        known = set(map(key, self.reads + self.writes))
        for access in other.reads + other.writes:
            if key(access) not in known:
                self.add(access)
        self.acquired |= other.acquired
        return self

    def carried(self, entry: _State, loop: Loop) -> None:
        """What was not there when an iteration of the loop began happened in an earlier iteration of it."""
        known = set(map(id, entry.reads + entry.writes))
        for accesses in (self.reads, self.writes):
            accesses[:] = [
                access if id(access) in known else access.at(access.time, loop) for access in accesses
            ]

    def left(self, loop: Loop) -> None:
        """After the loop its iterations mean nothing."""
        for accesses in (self.reads, self.writes):
            accesses[:] = [access.at(access.time) if access.loop is loop else access for access in accesses]

    def clear(self) -> None:
        self.reads, self.writes, self.acquired = [], [], False


# The accesses of a state by their identity, and what changed since.
_Seen = list[tuple[tuple[int, ...], set[typed.Symbol]]]


def _identity(access: _Access) -> tuple[int, ...]:
    """Tells accesses apart, but not by when they were seen."""
    return (
        *map(id, (access.pointer, access.statement, access.load, access.loop)),
        access.writes,
        access.atomic,
    )


def _covers(entry: _State, started: _Seen, after: _State, ended: _Seen) -> bool:
    """Whether an iteration that started in one state has left nothing that was not in it."""
    if after.acquired and not entry.acquired:
        return False
    known: dict[tuple[int, ...], list[set[typed.Symbol]]] = {}
    for identity, since in started:
        known.setdefault(identity, []).append(since)
    crowded = {False: len(entry.reads) > _MAX_ACCESSES, True: len(entry.writes) > _MAX_ACCESSES}
    return all(
        crowded[access.writes] or any(since <= older for older in known.get(identity, ()))
        for access, (identity, since) in zip(after.reads + after.writes, ended, strict=True)
    )


class _Order:
    def __init__(self, kernel: typed.KernelDef, provenance: Provenance) -> None:
        self.provenance = provenance
        self.owners = Owners(kernel)
        self.keys = Keys()
        self.overlap = Overlap(kernel, self.keys)
        self._values: dict[
            typed.Symbol, typed.Expr
        ] = {}  # what was assigned last, where every way here assigned that
        self._visits = _MAX_VISITS + 2 * len(statements(kernel.body))  # that are left
        self._clock = 0
        self._assigned: dict[typed.Symbol, int] = {}  # when a variable was assigned last
        self._pointers: Once[typed.Expr, _Pointer] = Once()
        self._effects: Once[typed.Statement, _Effects] = Once()
        self._loop_effects: Once[Loop, _LoopEffects] = Once()
        self._parts: Once[typed.Statement, typed.Body] = Once()  # every visit of a loop finds the same ones

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
                return statement if body is statement.body else replace(statement, body=body)
            case typed.DoWhile():
                raise AssertionError("passes/lower/jumps.py leaves none")
            case _:
                return statement

    def _loop(self, loop: Loop, parts: tuple[typed.Body, ...], state: _State) -> list[typed.Body]:
        """The parts of an iteration with their barriers; ``state`` becomes the one after the loop.

        An iteration starts in the state before the loop or after an iteration. Where a barrier goes depends on
        that state, and with a barrier in another place another state is after the iteration: so the parts are
        visited until nothing is after them that they did not start with.
        """
        iteration = _one_iteration(loop)
        self.overlap.enter(loop, self._values)
        self._forget(iteration)
        moving = assigned(iteration) | ({loop.symbol} if isinstance(loop, typed.RangeLoop) else set())
        condition = None if isinstance(loop, typed.RangeLoop) else loop.condition
        test = (typed.Evaluate(loop.span, condition),) if condition is not None else ()
        before, entry = state.copy(), state.copy()
        for visits_left in range(_MAX_VISITS_OF_A_LOOP, -1, -1):
            if visits_left == 0 or self._visits <= 0:
                visits_left = 0
                entry = before.copy()
                self._in_any_order(loop, entry)
            if isinstance(loop, typed.RangeLoop):  # each iteration has another value of it
                self._clock += 1
                self._assigned[loop.symbol] = self._clock
            started = self._seen(entry, moving)
            after = entry.copy()
            result = [self.body(part, after) for part in parts]
            result[-1] += self.body(test, after)[:-1]  # the barrier before the test, if it needs one
            self._forget(iteration)
            carried = after.copy()
            carried.carried(before, loop)
            if visits_left == 0 or _covers(entry, started, carried, self._seen(carried, moving)):
                break
            entry = before.copy().join(carried, _identity).join(entry, _identity)
        state.reads, state.writes, state.acquired = after.reads, after.writes, after.acquired
        state.join(entry)
        state.left(loop)
        return result

    def _seen(self, state: _State, moving: set[typed.Symbol]) -> _Seen:
        """The accesses of a state, each with the variables of a loop that were assigned since."""
        times = [(symbol, self._assigned.get(symbol, 0)) for symbol in moving]
        since: dict[int, set[typed.Symbol]] = {}
        seen: _Seen = []
        for access in state.reads + state.writes:
            if access.time not in since:
                since[access.time] = {symbol for symbol, time in times if time > access.time}
            seen.append((_identity(access), since[access.time]))
        return seen

    def _in_any_order(self, loop: Loop, state: _State) -> None:
        """Let everything in a loop have happened, and every variable have changed after that."""
        effects = self._loop_effects(self._loop_effects_of, loop)
        for access in effects.accesses:
            if state.has_room(access):
                state.add(access.at(self._clock))
        state.acquired |= effects.acquires
        self._clock += 1
        for symbol in effects.assigned:
            self._assigned[symbol] = self._clock

    def _loop_effects_of(self, loop: Loop) -> _LoopEffects:
        """What all statements in a loop do."""
        inner = statements(_one_iteration(loop))
        effects = [self._effects(self._effects_of, statement) for statement in inner]
        return _LoopEffects(
            [access for effect in effects for access in effect.accesses],
            any("cas" in effect.operations for effect in effects),
            [
                statement.symbol
                for statement in inner
                if isinstance(statement, typed.Declare | typed.Assign | typed.RangeLoop)
            ],
        )

    def _reason(self, operations: set[str], own: list[_Access], state: _State) -> str:
        """Why a barrier goes before these accesses, for readers of the module; empty where none is needed."""
        crowded = len(state.reads) + len(state.writes) > _MAX_ACCESSES
        if state.acquired and ("cas" not in operations or any(access.load is not None for access in own)):
            return "nothing below begins before the lock is taken"
        if crowded and (state.writes or any(access.writes for access in own)):
            return "some of the many accesses above may meet those below"
        if "xchg" in operations and not all(map(_by_first_thread, state.reads + state.writes)):
            return "all above is done before the lock is released"
        for access in own:
            for earlier in state.writes + state.reads if access.writes else state.writes:
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
            elif self.overlap.apart(first.expr, second.expr):
                return False
        return earlier.loop is None or not self._in_other_iterations(earlier.loop, earlier, later)

    def _in_other_iterations(self, loop: Loop, earlier: _Access, later: _Access) -> bool:
        """Whether two accesses are apart because they belong to different iterations."""
        if earlier.statement is None or later.statement is None:
            return False
        first, second = (earlier.pointer.expr, earlier.statement), (later.pointer.expr, later.statement)
        return self.overlap.apart_in_iterations(loop, first, second)

    def _by_one_thread(self, earlier: _Access, later: _Access) -> bool:
        """Whether the thread that meets an element first meets it again, through the identical pointers."""
        if earlier.writes and later.writes and not earlier.atomic and not later.atomic:
            return True
        if not isinstance(later.pointer.expr.type, BlockType):
            return False
        only = later.writes and self.owners.only_into(earlier.load, earlier.statement, later.statement)
        return only or self.owners.one_each(later.pointer.expr)

    def _pointer(self, expr: typed.Expr) -> _Pointer:
        """What is known of a pointer."""
        return self._pointers(lambda expr: _Pointer(expr, self.provenance.roots(expr), names(expr)), expr)

    def _changed(self, pointer: _Pointer) -> int:
        """When a variable that the pointer reads was assigned last."""
        if pointer.asked != self._clock:
            pointer.asked = self._clock
            pointer.changed = max([self._assigned.get(symbol, 0) for symbol in pointer.symbols], default=0)
        return pointer.changed

    def _effects_of(self, statement: typed.Statement) -> _Effects:
        """What a statement itself does."""
        if not isinstance(statement, typed.Store) and _MEMORY.isdisjoint(inside(statement).kinds):
            return _Effects(statement, (), set())
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
        return _Effects(statement, (*accesses, *written), operations, split)

    def _meets_itself(
        self, statement: typed.Statement, accesses: list[_Access], stored: list[_Access]
    ) -> bool:
        """Whether a barrier is needed between what a statement does first and what it does then."""
        if not accesses or not (stored or any(access.atomic for access in accesses)):
            return False
        atomics = [access.at(self._clock) for access in accesses if access.atomic]
        loads = [access.at(self._clock) for access in accesses if access.load is not None]
        stored = [access.at(self._clock) for access in stored]
        if atomics and loads and _locks(statement, {id(access.load) for access in loads}):
            return True
        if len(loads) * len(atomics) > _MAX_ACCESSES * _MAX_ACCESSES:
            return True
        pairs = (*product(loads, atomics + stored), *product(atomics, stored))
        return any(self._conflict(first, then) for first, then in pairs)


def _meeting(earlier: _Access, later: _Access) -> str:
    """Which two accesses meet: ``X is read above and written below``."""
    where = "above" if earlier.loop is None else "by an earlier iteration"
    first, second = _memory(earlier), _memory(later)
    if first != second:
        return f"{first}, {_done(earlier)} {where}, may overlap {second}, {_done(later)} below"
    below = "below" if _done(earlier) == _done(later) else f"{_done(later)} below"
    return f"{first} is {_done(earlier)} {where} and {below}"


def _memory(access: _Access) -> str:
    """What an access reaches, by the names of the parameters."""
    names = sorted(root.name for root in access.pointer.roots or ())
    return " or ".join(names) or "memory"


def _done(access: _Access) -> str:
    return "updated" if access.atomic else "written" if access.writes else "read"


def _one_iteration(loop: Loop) -> typed.Body:
    """What each iteration of a loop runs, but for its condition."""
    return loop.body + loop.step if isinstance(loop, typed.For) else loop.body


def _by_first_thread(access: _Access) -> bool:
    """Whether an access is made by the thread that makes all scalar atomics: in the order of the text."""
    return access.atomic and not isinstance(access.pointer.expr.type, BlockType)


def _locks(statement: typed.Statement, loads: set[int]) -> bool:
    """Whether a statement releases a lock, or takes one, beside some of what it loads."""
    nodes = list(_own_nodes(statement))
    atomics = [node for node in nodes if isinstance(node, typed.Atomic)]
    if any(atomic.operation == "xchg" for atomic in atomics):
        return True
    taking = [atomic for atomic in atomics if atomic.operation == "cas"]
    before = {id(node) for atomic in taking for node in walk(atomic)}
    return bool(taking) and not loads <= before


def _own_nodes(statement: typed.Statement) -> Iterator[typed.Expr]:
    """Every expression node of a statement itself, not of the blocks inside it."""
    for expr in expressions((statement,), deep=False):
        yield from walk(expr)


def _is_barrier(statement: typed.Statement) -> bool:
    value = statement.value if isinstance(statement, typed.Evaluate) else None
    return isinstance(value, typed.Call) and value.function == "barrier"
