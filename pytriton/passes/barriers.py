"""Barriers where one thread of a program may meet memory that another thread of it wrote (language.md, section 8).

A Triton-C program is one thread over blocks; Triton spreads its blocks over many. Nothing orders an access after
an earlier one made by other threads, so a barrier goes in front of a statement when

- it may touch memory that an access since the last barrier may have touched, one of the two writes, and the two
  do not use the identical block of pointers (each thread meets its own elements then; a scalar is stored by
  one thread and loaded by all, so for scalars that does not help);
- it is ``atomic_xchg``, which releases what was stored before, or follows ``atomic_cas``, which acquires.

The bodies of loops are looked at twice, the second time after themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pytriton.lang.typed import (
    Assign,
    Atomic,
    Body,
    Call,
    Comments,
    Declare,
    DoWhile,
    Evaluate,
    Expr,
    For,
    If,
    KernelDef,
    Load,
    Name,
    RangeLoop,
    Statement,
    Store,
    Symbol,
    While,
)
from pytriton.lang.types import VOID, BlockType, PointerType, ScalarType
from pytriton.lang.walk import expressions, names, same, walk
from pytriton.passes.provenance import Provenance

__all__ = ["barriers"]


def barriers(kernel: KernelDef) -> KernelDef:
    """The kernel with the barriers that its memory accesses need."""
    body, _ = _Order(Provenance(kernel)).body(kernel.body, _State())
    return replace(kernel, body=body)


@dataclass(frozen=True, slots=True)
class _Access:
    """One access: its pointer, whether it writes, and whether the pointer still means the same.

    Atomics are ordered among themselves.
    """

    pointer: Expr
    writes: bool
    atomic: bool = False
    current: bool = True


@dataclass(frozen=True, slots=True)
class _State:
    """The accesses since the last barrier, and whether a lock was taken since."""

    accesses: tuple[_Access, ...] = ()
    acquired: bool = False

    def joined(self, other: _State) -> _State:
        new = tuple(access for access in other.accesses if access not in self.accesses)
        return _State(self.accesses + new, self.acquired or other.acquired)

    def after_assigning(self, symbols: set[Symbol]) -> _State:
        """Pointers that read a changed variable are not what they were."""
        return _State(
            tuple(
                replace(access, current=False) if names(access.pointer) & symbols else access
                for access in self.accesses
            ),
            self.acquired,
        )


class _Order:
    def __init__(self, provenance: Provenance) -> None:
        self.provenance = provenance

    def body(self, body: Body, state: _State) -> tuple[Body, _State]:
        """The statements with their barriers, and the state behind them."""
        result: list[Statement] = []
        for statement in body:
            if _is_barrier(statement):
                state = _State()
                result.append(statement)
                continue
            own = tuple(_accesses(statement))
            if isinstance(statement, Store) and any(self._conflict(a, own[-1]) for a in own[:-1]):
                # What is stored was loaded in the same statement: the barrier goes in between.
                declare, store = _split(statement)
                inner, state = self.body((declare, store), state)
                result += inner
                continue
            if self._needs_barrier(statement, own, state):
                result.append(Evaluate(statement.span, Call(statement.span, VOID, "barrier", ())))
                state = _State()
            acquires = any(_is_atomic(node, "cas") for node in _own_nodes(statement))
            state = _State(state.accesses + own, state.acquired or acquires)
            if isinstance(statement, Declare | Assign):
                state = state.after_assigning({statement.symbol})
            statement, state = self._inner(statement, state)
            result.append(statement)
        return tuple(result), state

    def _inner(self, statement: Statement, state: _State) -> tuple[Statement, _State]:
        match statement:
            case If():
                then, after_then = self.body(statement.then, state)
                otherwise, after_otherwise = self.body(statement.otherwise, state)
                changed: Statement = replace(statement, then=then, otherwise=otherwise)
                return changed, after_then.joined(after_otherwise)
            case For():
                init, state = self.body(statement.init, state)
                _, after = self.body(statement.body + statement.step, state)
                before = state.joined(after)
                body, middle = self.body(statement.body, before)
                step, end = self.body(statement.step, middle)
                return replace(statement, init=init, body=body, step=step), before.joined(end)
            case RangeLoop() | While() | DoWhile():
                if isinstance(statement, RangeLoop):
                    state = state.after_assigning({statement.symbol})
                _, after = self.body(statement.body, state)
                before = state.joined(after)
                if isinstance(statement, RangeLoop):
                    before = before.after_assigning({statement.symbol})
                body, end = self.body(statement.body, before)
                return replace(statement, body=body), before.joined(end)
            case _:
                return statement, state

    def _needs_barrier(self, statement: Statement, own: tuple[_Access, ...], state: _State) -> bool:
        if own and state.acquired and not any(_is_atomic(n, "cas") for n in _own_nodes(statement)):
            return True
        if state.accesses and any(_is_atomic(node, "xchg") for node in _own_nodes(statement)):
            return True
        return any(self._conflict(earlier, access) for earlier in state.accesses for access in own)

    def _conflict(self, earlier: _Access, later: _Access) -> bool:
        if not (earlier.writes or later.writes) or (earlier.atomic and later.atomic):
            return False
        block = isinstance(later.pointer.type, BlockType)
        if block and earlier.current and same(earlier.pointer, later.pointer):
            return False
        return self.provenance.may_alias(earlier.pointer, later.pointer)


def _own_nodes(statement: Statement) -> Iterator[Expr]:
    """Every expression node of a statement itself, not of the blocks inside it."""
    for expr in expressions((statement,), deep=False):
        yield from walk(expr)


def _accesses(statement: Statement) -> Iterator[_Access]:
    """The accesses of a statement itself. An atomic both reads and writes, but orders itself."""
    for node in _own_nodes(statement):
        if isinstance(node, Load):
            yield _Access(node.pointer, writes=False)
        elif isinstance(node, Atomic):
            yield _Access(node.pointer, writes=True, atomic=True)
    if isinstance(statement, Store):
        yield _Access(statement.pointer, writes=True)


def _split(store: Store) -> tuple[Declare, Store]:
    """``*p = value`` as two statements."""
    assert isinstance(store.value.type, ScalarType | PointerType | BlockType)
    symbol = Symbol("value", store.value.type, store.span)
    declare = Declare(store.span, symbol, store.value, store.comments)
    value = Name(store.value.span, store.value.type, symbol)
    return declare, replace(store, value=value, comments=Comments())


def _is_barrier(statement: Statement) -> bool:
    value = statement.value if isinstance(statement, Evaluate) else None
    return isinstance(value, Call) and value.function == "barrier"


def _is_atomic(node: Expr, operation: str) -> bool:
    return isinstance(node, Atomic) and node.operation == operation

