"""Program ids in groups, under a constexpr: what a sweep of a matrix product may try.

A folded kernel with the ids of axes 0 and 1 gets a constexpr ``GROUP`` and asks ``program_ids`` for them. With 0 or
None its programs run as they come, with 8 they do what passes/speed/swizzle.py prints for groups of 8. The new ids
are a bijection of the launch grid, so either is exact; prove.py compares both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from pytriton.emit.python import Atom, Call, Node
from pytriton.fold.read import Block, Simple, Statement
from pytriton.fold.walk import children, rebuilt
from pytriton.frozen import replace

__all__ = ["GROUP", "PROGRAM_IDS", "grouped"]

GROUP: Final = "GROUP"
PROGRAM_IDS: Final = """\
@triton.jit
def program_ids(GROUP: tl.constexpr):
    # of axes 0 and 1; of programs in groups of GROUP along axis 0, for the level-2 cache
    pid_0 = tl.program_id(0)
    pid_1 = tl.program_id(1)
    if GROUP:
        pid = pid_1 * tl.num_programs(0) + pid_0
        whole = GROUP * tl.num_programs(1)
        first = pid // whole * GROUP
        high = tl.minimum(tl.num_programs(0) - first, GROUP)
        pid_0 = first + pid % whole % high
        pid_1 = pid % whole // high
    return pid_0, pid_1"""


def grouped(body: Iterable[Statement], taken: Collection[str]) -> tuple[Statement, ...]:
    """The body with its programs in groups of GROUP. ``taken``: names that have a meaning in it."""
    row, column = (Atom(_free(name, taken)) for name in ("pid_0", "pid_1"))
    ids: dict[Node, Node] = {
        Call("tl.program_id", (Atom(f"{n}"),)): one for n, one in enumerate((row, column))
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

    asked = Simple(f"{row.text}, {column.text} = ", Call("program_ids", (Atom(GROUP),)))
    return (asked, *map(of, body))


def _free(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)
