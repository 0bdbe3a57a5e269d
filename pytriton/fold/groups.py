"""Program ids in groups, under a constexpr: what a sweep of a matrix product may try.

A folded kernel with the ids of axes 0 and 1 gets a constexpr ``GROUP``. With 0 or None its programs run as they
come, with 8 they do what passes/speed/swizzle.py prints for groups of 8. The new ids are a bijection of the launch
grid, so either is exact; prove.py compares both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from pytriton.emit.python import Atom, Call, Node
from pytriton.fold.read import Block, Statement, read
from pytriton.fold.walk import children, rebuilt
from pytriton.frozen import replace

__all__ = ["GROUP", "grouped"]

GROUP: Final = "GROUP"
_NAMES: Final = ("pid_0", "pid_1", "pid", "whole", "first", "high", "inside")
_START: Final = """
@triton.jit
def start(GROUP):
    pid_0 = tl.program_id(0)
    pid_1 = tl.program_id(1)
    if GROUP:
        # programs in groups, for the level-2 cache
        pid = pid_1 * tl.num_programs(0) + pid_0
        whole = GROUP * tl.num_programs(1)
        first = pid // whole * GROUP
        high = tl.minimum(tl.num_programs(0) - first, GROUP)
        inside = pid % whole
        pid_0 = first + inside % high
        pid_1 = inside // high
"""


def grouped(body: Iterable[Statement], taken: Collection[str]) -> tuple[Statement, ...]:
    """The body with its programs in groups of GROUP. ``taken``: names that have a meaning in it."""
    free = {name: name + "_" * _underscores(name, taken) for name in _NAMES}
    text = re.sub(r"\b[a-z]\w*\b", lambda match: free.get(match[0], match[0]), _START)
    return (*read(text, "start", {}).body, *_with_ids(body, Atom(free["pid_0"]), Atom(free["pid_1"])))


def _underscores(name: str, taken: Collection[str]) -> int:
    return next(count for count in range(len(taken) + 1) if name + "_" * count not in taken)


def _with_ids(body: Iterable[Statement], row: Node, column: Node) -> tuple[Statement, ...]:
    """The statements over these ids."""
    ids: dict[Node, Node] = {
        Call("tl.program_id", (Atom("0"),)): row,
        Call("tl.program_id", (Atom("1"),)): column,
    }

    def changed(node: Node) -> Node:
        return ids.get(node) or rebuilt(node, [changed(child) for child in children(node)])

    def of(statement: Statement) -> Statement:
        if statement.node is not None:
            statement = replace(statement, node=changed(statement.node))
        if isinstance(statement, Block):
            inner, otherwise = (tuple(map(of, part)) for part in (statement.body, statement.otherwise))
            statement = replace(statement, body=inner, otherwise=otherwise)
        return statement

    return tuple(map(of, body))
