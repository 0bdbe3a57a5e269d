"""Does each thread of a program meet only its own elements of a block?

A block with at least as many elements as the program has threads keeps one layout for its loads and stores: the
thread that stores an element is the one that loads it. Of a smaller block Triton lets many threads load each
element, in whatever layout the use wants, and even repeats the load for each use, while one thread stores it.
Then a store through the same pointers is in order only after a load whose value goes nowhere but, element by
element, into what is stored (seen in generated code for sm_90: blocks of 16 and of 1024 elements, 4 warps).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from pytriton.lang.tree.typed import (
    Assign,
    Binary,
    Bitcast,
    Call,
    Cast,
    Declare,
    Expr,
    KernelDef,
    Load,
    Name,
    Select,
    Statement,
    Store,
    Symbol,
    Unary,
)
from pytriton.lang.tree.types import shape_of
from pytriton.lang.tree.walk import assigned_once, children
from pytriton.passes.analysis.queries import nodes

__all__ = ["Owners"]

_MAX_THREADS = 1024  # 32 warps


class Owners:
    """Answers for the blocks of one kernel."""

    def __init__(self, kernel: KernelDef) -> None:
        self._kernel = kernel

    @cached_property
    def _reads(self) -> Counter[Symbol]:
        return Counter(name.symbol for name in nodes(self._kernel.body, Name))

    @cached_property
    def _once(self) -> set[int]:
        return {id(statement) for statement in assigned_once(self._kernel.body)}

    def one_each(self, pointer: Expr) -> bool:
        """Whether the block has an element for every thread."""
        return math.prod(shape_of(pointer.type)) >= _MAX_THREADS

    def only_into(self, load: Load | None, statement: Statement | None, store: Statement | None) -> bool:
        """Whether what a statement loads goes only into what a store writes, element by element."""
        if load is None or not isinstance(store, Store):
            return False
        leaves = list(_elementwise(store.value))
        if statement is store:
            return any(leaf is load for leaf in leaves)
        if not isinstance(statement, Declare | Assign) or statement.value is None:
            return False
        if id(statement) not in self._once or not any(leaf is load for leaf in _elementwise(statement.value)):
            return False
        return self._reads[statement.symbol] == _count(leaves, statement.symbol)


def _elementwise(expr: Expr) -> Iterator[Expr]:
    """The operands at which operators that work element by element end."""
    if isinstance(expr, Unary | Binary | Select | Call | Cast | Bitcast):
        for child in children(expr):
            yield from _elementwise(child)
    else:
        yield expr


def _count(leaves: list[Expr], symbol: Symbol) -> int:
    return sum(isinstance(leaf, Name) and leaf.symbol is symbol for leaf in leaves)
