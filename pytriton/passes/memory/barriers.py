"""Barriers where one thread of a program may meet memory that another thread of it wrote (language.md, section 8).

A Triton-C program is one thread over blocks; Triton spreads its blocks over many. Nothing orders an access after
an earlier one made by other threads, so a barrier goes in front of a statement when

- it may touch memory that an access since the last barrier may have touched, one of the two writes, and the two
  do not use the identical block of pointers, or do not meet in it thread by thread (owners.py; a scalar is stored
  by one thread and loaded by all, so for scalars that helps only between two stores);
- it is ``atomic_xchg``, which releases what was stored before (scalar atomics aside: one thread makes them all, in
  order), or follows ``atomic_cas``, which acquires.

Accesses of two turns of a loop that can be told apart (overlap.py) do not meet. The body of a loop is looked at
until a turn leaves nothing that it did not start with, at least twice. In a nest each loop multiplies the work, so
what a kernel may cost is limited: beyond that, a body is taken to do all that it does in any order.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

from pytriton.frozen import dataclass, replace
from pytriton.lang.tree.typed import (
    Assign,
    Atomic,
    Body,
    Call,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    KernelDef,
    Load,
    RangeLoop,
    Statement,
    Store,
    Symbol,
    While,
)
from pytriton.lang.tree.types import VOID, BlockType
from pytriton.lang.tree.walk import assigned, bodies, expressions, inside, names, statements, walk
from pytriton.passes.analysis.affine import Keys
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import unless_changed
from pytriton.passes.memory.overlap import Loop, Overlap
from pytriton.passes.memory.owners import Owners
from pytriton.passes.memory.provenance import Provenance, may_meet
from pytriton.passes.memory.separate import in_parts

__all__ = ["barriers"]


def barriers(kernel: KernelDef, _: Context) -> KernelDef:
    """The kernel with the barriers that its memory accesses need."""
    provenance = Provenance(kernel)
    if provenance.all_apart(_FEW):
        return kernel
    return replace(kernel, body=_Order(kernel, provenance).body(kernel.body, _State()))


_MEMORY = frozenset((Load, Atomic))
# With more accesses than this since the last barrier, comparing them costs more than a barrier.
_MOST = 32
# Statements that may be looked at, beside two looks at each.
_MOST_LOOKS = 5_000
# Looks at one loop; nearly all need two or three.
_MOST_TURNS = 6
# Accesses of a kernel that fill no state, though each look at a loop leaves its own there.
_FEW = _MOST // (_MOST_TURNS + 2)


@dataclasses.dataclass(slots=True, eq=False)
class _Pointer:
    """What is known of a pointer for good, and when one of its variables was ``changed``, as ``asked`` last."""

    expr: Expr
    roots: frozenset[Symbol] | None
    symbols: frozenset[Symbol]
    asked: int = -1
    changed: int = 0


@dataclass(frozen=True, slots=True)
class _Access:
    """One access and when it was seen. Atomics are ordered among themselves."""

    pointer: _Pointer
    writes: bool
    atomic: bool = False
    time: int = 0
    statement: Statement | None = None
    load: Load | None = None
    turn: Loop | None = None  # in an earlier turn of that loop

    def at(self, time: int, turn: Loop | None = None) -> _Access:
        """The same access, seen then."""
        return _Access(self.pointer, self.writes, self.atomic, time, self.statement, self.load, turn)


@dataclass(frozen=True, slots=True)
class _Doing:
    """What one statement itself does: its accesses in order, what it stores last, and its atomics."""

    statement: Statement
    accesses: tuple[_Access, ...]
    operations: set[str]
    split: bool = False  # some of it must be seen by all threads before the rest


@dataclass(frozen=True, slots=True)
class _Everything:
    """What a loop does in all."""

    loop: Loop
    accesses: list[_Access]
    acquires: bool
    assigned: list[Symbol]


@dataclasses.dataclass(slots=True)
class _State:
    """The accesses since the last barrier, and whether a lock was taken since."""

    reads: list[_Access] = dataclasses.field(default_factory=list)
    writes: list[_Access] = dataclasses.field(default_factory=list)
    acquired: bool = False

    def copy(self) -> _State:
        return _State(list(self.reads), list(self.writes), self.acquired)

    def add(self, access: _Access) -> None:
        """One more access. Where there are more than ``_MOST``, it matters no more which ones they are."""
        if self.has_room(access):
            (self.writes if access.writes else self.reads).append(access)

    def has_room(self, access: _Access) -> bool:
        """Whether it matters that this access is added."""
        return len(self.writes if access.writes else self.reads) <= _MOST

    def join(self, other: _State) -> None:
        """Either may have happened."""
        known = set(map(id, self.reads + self.writes))
        for access in other.reads + other.writes:
            if id(access) not in known:
                self.add(access)
        self.acquired |= other.acquired

    def joined(self, other: _State) -> _State:
        """Itself, with the accesses of another state that it has none like."""
        known = set(map(_identity, self.reads + self.writes))
        for access in other.reads + other.writes:
            if _identity(access) not in known:
                self.add(access)
        self.acquired |= other.acquired
        return self

    def carried(self, entry: _State, loop: Loop) -> None:
        """What was not there when a turn of the loop began happened in an earlier turn of it."""
        known = set(map(id, entry.reads + entry.writes))
        for accesses in (self.reads, self.writes):
            accesses[:] = [one if id(one) in known else one.at(one.time, loop) for one in accesses]

    def left(self, loop: Loop) -> None:
        """Behind the loop its turns mean nothing."""
        for accesses in (self.reads, self.writes):
            accesses[:] = [one.at(one.time) if one.turn is loop else one for one in accesses]

    def clear(self) -> None:
        self.reads, self.writes, self.acquired = [], [], False


# The accesses of a state by their identity, and what changed since.
_Seen = list[tuple[tuple[int, ...], set[Symbol]]]


def _identity(access: _Access) -> tuple[int, ...]:
    """Tells accesses apart, but not by when they were seen."""
    return (
        *map(id, (access.pointer, access.statement, access.load, access.turn)),
        access.writes,
        access.atomic,
    )


def _covers(entry: _State, started: _Seen, after: _State, ended: _Seen) -> bool:
    """Whether a turn that started in one state has left nothing that was not in it."""
    if after.acquired and not entry.acquired:
        return False
    known: dict[tuple[int, ...], list[set[Symbol]]] = {}
    for identity, since in started:
        known.setdefault(identity, []).append(since)
    crowded = {False: len(entry.reads) > _MOST, True: len(entry.writes) > _MOST}
    return all(
        crowded[access.writes] or any(since <= older for older in known.get(identity, ()))
        for access, (identity, since) in zip(after.reads + after.writes, ended, strict=True)
    )


class _Order:
    def __init__(self, kernel: KernelDef, provenance: Provenance) -> None:
        self.provenance = provenance
        self.owners = Owners(kernel)
        self.keys = Keys()
        self.overlap = Overlap(kernel, self.keys)
        self._values: dict[Symbol, Expr] = {}  # what was assigned last, where every way here assigned that
        self._looks = _MOST_LOOKS + 2 * len(statements(kernel.body))  # that are left
        self._clock = 0
        self._assigned: dict[Symbol, int] = {}  # when a variable was assigned last
        self._pointers: dict[int, _Pointer] = {}  # by the id of the expression, which each holds
        self._everything: dict[int, _Everything] = {}  # by the id of the loop, which each holds
        self._doings: dict[int, _Doing] = {}  # by the id of the statement, which each holds
        self._parts: dict[int, tuple[Statement, Body]] = {}  # by the id of the statement, which each holds

    def body(self, body: Body, state: _State) -> Body:
        """The statements with their barriers; ``state`` becomes the one behind them."""
        result: list[Statement] = []
        self._looks -= len(body)
        for statement in body:
            if _is_barrier(statement):
                state.clear()
                result.append(statement)
                continue
            doing = self._known(statement)
            if doing.split:  # barriers go in between
                result += self.body(self._parts_of(statement), state)
                continue
            if doing.accesses:
                own = [access.at(self._clock) for access in doing.accesses]
                if self._needs_barrier(doing.operations, own, state):
                    result.append(Evaluate(statement.span, Call(statement.span, VOID, "barrier", ())))
                    state.clear()
                for access in own:
                    state.add(access)
                state.acquired |= "cas" in doing.operations
            if isinstance(statement, Declare | Assign | RangeLoop):
                self._clock += 1
                self._assigned[statement.symbol] = self._clock
                self._learn(statement)
            result.append(self._inner(statement, state) if bodies(statement) else statement)
        return unless_changed(body, result)

    def _learn(self, statement: Declare | Assign | RangeLoop) -> None:
        value = None if isinstance(statement, RangeLoop) else statement.value
        if value is None:
            self._values.pop(statement.symbol, None)
        else:
            self._values[statement.symbol] = value

    def _forget(self, body: Body) -> None:
        for symbol in assigned(body):
            self._values.pop(symbol, None)

    def _inner(self, statement: Statement, state: _State) -> Statement:
        match statement:
            case If():
                other = state.copy()
                then = self.body(statement.then, state)
                self._forget(statement.then)
                otherwise = self.body(statement.otherwise, other)
                self._forget(statement.otherwise)
                state.join(other)
                return replace(statement, then=then, otherwise=otherwise)
            case For():
                init = self.body(statement.init, state)
                body, step = self._loop(statement, (statement.body, statement.step), state)
                return replace(statement, init=init, body=body, step=step)
            case RangeLoop() | While():
                (body,) = self._loop(statement, (statement.body,), state)
                return statement if body is statement.body else replace(statement, body=body)
            case DoWhile():
                raise AssertionError("passes/lower/jumps.py leaves none")
            case _:
                return statement

    def _loop(self, loop: Loop, parts: tuple[Body, ...], state: _State) -> list[Body]:
        """The parts of a turn with their barriers; ``state`` becomes the one behind the loop.

        A turn starts in the state before the loop or behind a turn. Where a barrier goes depends on that state,
        and with a barrier in another place another state is behind the turn: so the parts are looked at until
        nothing is behind them that they did not start with.
        """
        whole = tuple(statement for part in parts for statement in part)
        self.overlap.enter(loop, self._values)
        self._forget(whole)
        moving = assigned(whole) | ({loop.symbol} if isinstance(loop, RangeLoop) else set())
        condition = None if isinstance(loop, RangeLoop) else loop.condition
        test = (Evaluate(loop.span, condition),) if condition is not None else ()
        before, entry = state.copy(), state.copy()
        for look in range(_MOST_TURNS, -1, -1):
            if look == 0 or self._looks <= 0:
                look = 0
                entry = before.copy()
                self._in_any_order(loop, whole, entry)
            if isinstance(loop, RangeLoop):  # each turn has another value of it
                self._clock += 1
                self._assigned[loop.symbol] = self._clock
            started = self._seen(entry, moving)
            after = entry.copy()
            result = [self.body(part, after) for part in parts]
            result[-1] += self.body(test, after)[:-1]  # the barrier in front of the test, if it needs one
            self._forget(whole)
            carried = after.copy()
            carried.carried(before, loop)
            if look == 0 or _covers(entry, started, carried, self._seen(carried, moving)):
                break
            entry = before.copy().joined(carried).joined(entry)
        state.reads, state.writes, state.acquired = after.reads, after.writes, after.acquired
        state.join(entry)
        state.left(loop)
        return result

    def _seen(self, state: _State, moving: set[Symbol]) -> _Seen:
        """The accesses of a state, each with the variables of a loop that were assigned since."""
        times = [(symbol, self._assigned.get(symbol, 0)) for symbol in moving]
        since: dict[int, set[Symbol]] = {}
        found: _Seen = []
        for access in state.reads + state.writes:
            if access.time not in since:
                since[access.time] = {symbol for symbol, time in times if time > access.time}
            found.append((_identity(access), since[access.time]))
        return found

    def _in_any_order(self, loop: Loop, body: Body, state: _State) -> None:
        """Let everything in a loop have happened, and every variable have changed after that."""
        everything = self._everything.get(id(loop))
        if everything is None:
            inside = statements(body)
            doings = list(map(self._known, inside))
            everything = self._everything[id(loop)] = _Everything(
                loop,
                [access for doing in doings for access in doing.accesses],
                any("cas" in doing.operations for doing in doings),
                [each.symbol for each in inside if isinstance(each, Declare | Assign | RangeLoop)],
            )
        for access in everything.accesses:
            if state.has_room(access):
                state.add(access.at(self._clock))
        state.acquired |= everything.acquires
        self._clock += 1
        for symbol in everything.assigned:
            self._assigned[symbol] = self._clock

    def _needs_barrier(self, operations: set[str], own: list[_Access], state: _State) -> bool:
        crowded = len(state.reads) + len(state.writes) > _MOST
        if state.acquired and ("cas" not in operations or any(access.load is not None for access in own)):
            return True
        if crowded and (state.writes or any(access.writes for access in own)):
            return True
        if "xchg" in operations and not all(map(_by_first_thread, state.reads + state.writes)):
            return True
        for access in own:
            for earlier in state.writes + state.reads if access.writes else state.writes:
                if self._conflict(earlier, access):
                    return True
        return False

    def _conflict(self, earlier: _Access, later: _Access) -> bool:
        if not (earlier.writes or later.writes) or (earlier.atomic and later.atomic):
            return False
        one, other = earlier.pointer, later.pointer
        if not may_meet(one.roots, other.roots):
            return False
        if self._changed(one) <= earlier.time and self._changed(other) <= earlier.time:
            if self.keys.of(one.expr) == self.keys.of(other.expr):
                if self._by_one_thread(earlier, later):
                    return False
            elif self.overlap.apart(one.expr, other.expr):
                return False
        return earlier.turn is None or not self._in_other_turns(earlier.turn, earlier, later)

    def _in_other_turns(self, loop: Loop, earlier: _Access, later: _Access) -> bool:
        """Whether two accesses are apart because they belong to different turns."""
        if earlier.statement is None or later.statement is None:
            return False
        one, other = (earlier.pointer.expr, earlier.statement), (later.pointer.expr, later.statement)
        return self.overlap.apart_in_iterations(loop, one, other)

    def _by_one_thread(self, earlier: _Access, later: _Access) -> bool:
        """Whether the thread that meets an element first meets it again, through the identical pointers."""
        if earlier.writes and later.writes and not earlier.atomic and not later.atomic:
            return True
        if not isinstance(later.pointer.expr.type, BlockType):
            return False
        only = later.writes and self.owners.only_into(earlier.load, earlier.statement, later.statement)
        return only or self.owners.one_each(later.pointer.expr)

    def _pointer(self, expr: Expr) -> _Pointer:
        """What is known of a pointer, worked out once."""
        found = self._pointers.get(id(expr))
        if found is None:
            found = _Pointer(expr, self.provenance.roots(expr), names(expr))
            self._pointers[id(expr)] = found
        return found

    def _changed(self, pointer: _Pointer) -> int:
        """When a variable that the pointer reads was assigned last."""
        if pointer.asked != self._clock:
            pointer.asked = self._clock
            pointer.changed = max([self._assigned.get(symbol, 0) for symbol in pointer.symbols], default=0)
        return pointer.changed

    def _parts_of(self, statement: Statement) -> Body:
        """A statement in parts, made once, so that every look at a loop finds the same ones."""
        found = self._parts.get(id(statement))
        if found is None:
            found = self._parts[id(statement)] = (statement, in_parts(statement))
        return found[1]

    def _known(self, statement: Statement) -> _Doing:
        """What a statement does, worked out once."""
        found = self._doings.get(id(statement))
        if found is None:
            found = self._doings[id(statement)] = self._doing(statement)
        return found

    def _doing(self, statement: Statement) -> _Doing:
        if not isinstance(statement, Store) and _MEMORY.isdisjoint(inside(statement).kinds):
            return _Doing(statement, (), set())
        found: list[_Access] = []
        operations: set[str] = set()
        for node in _own_nodes(statement):
            if isinstance(node, Load):
                found.append(
                    _Access(self._pointer(node.pointer), writes=False, statement=statement, load=node)
                )
            elif isinstance(node, Atomic):
                found.append(_Access(self._pointer(node.pointer), writes=True, atomic=True))
                operations.add(node.operation)
        written: list[_Access] = []
        if isinstance(statement, Store):
            written.append(_Access(self._pointer(statement.pointer), writes=True, statement=statement))
        split = not isinstance(statement, RangeLoop) and self._meets_itself(statement, found, written)
        return _Doing(statement, (*found, *written), operations, split)

    def _meets_itself(self, statement: Statement, found: list[_Access], stored: list[_Access]) -> bool:
        """Whether a barrier is needed between what a statement does first and what it does then."""
        if not found or not (stored or any(access.atomic for access in found)):
            return False
        atomics = [access.at(self._clock) for access in found if access.atomic]
        loads = [access.at(self._clock) for access in found if access.load is not None]
        stored = [access.at(self._clock) for access in stored]
        if atomics and loads and _locks(statement, {id(access.load) for access in loads}):
            return True
        if len(loads) * len(atomics) > _MOST * _MOST:
            return True
        pairs = (*product(loads, atomics + stored), *product(atomics, stored))
        return any(self._conflict(first, then) for first, then in pairs)


def _by_first_thread(access: _Access) -> bool:
    """Whether an access is made by the thread that makes all scalar atomics: in the order of the text."""
    return access.atomic and not isinstance(access.pointer.expr.type, BlockType)


def _locks(statement: Statement, loads: set[int]) -> bool:
    """Whether a statement releases a lock, or takes one, beside some of what it loads."""
    nodes = list(_own_nodes(statement))
    atomics = [node for node in nodes if isinstance(node, Atomic)]
    if any(atomic.operation == "xchg" for atomic in atomics):
        return True
    taking = [atomic for atomic in atomics if atomic.operation == "cas"]
    before = {id(node) for atomic in taking for node in walk(atomic)}
    return bool(taking) and not loads <= before


def _own_nodes(statement: Statement) -> Iterator[Expr]:
    """Every expression node of a statement itself, not of the blocks inside it."""
    for expr in expressions((statement,), deep=False):
        yield from walk(expr)


def _is_barrier(statement: Statement) -> bool:
    value = statement.value if isinstance(statement, Evaluate) else None
    return isinstance(value, Call) and value.function == "barrier"
