"""Program ids in groups, under a constexpr: what a sweep of a matrix product may try.

A folded kernel with the ids of axes 0 and 1 gets a constexpr ``GROUP``. With 0 or None its programs run as they
come, with 8 in the order that passes/speed/swizzle.py gives them for groups of 8. The new ids are a bijection of
the launch grid, so either is exact; prove.py compares both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from pytriton.emit.python import Atom, BinOp, Block, Call, Node, Simple, Statement
from pytriton.fold.walk import mapped

GROUP: Final = "GROUP"


def grouped(body: Iterable[Statement], taken: Collection[str]) -> tuple[Statement, ...]:
    """The body with its programs in groups of GROUP. ``taken``: names that have a meaning in it."""
    row, column, place = (Atom(_free(name, taken)) for name in ("pid_0", "pid_1", "pid"))
    asked = [Call("tl.program_id", (Atom(axis),)) for axis in "01"]
    ids: dict[Node, Node] = dict(zip(asked, (row, column), strict=True))
    high, wide = (Call("tl.num_programs", (Atom(axis),)) for axis in "01")
    line = BinOp("+", BinOp("*", column, high), row)
    swizzled = Call("tl.swizzle2d", (Atom("0"), place, high, wide, Atom(GROUP)))
    comment = "programs in groups, for the level-2 cache"
    in_groups = (
        Simple(f"{place.text} = ", line, above=(comment,)),
        Simple(f"{row.text}, {column.text} = ", swizzled),
    )
    start = [Simple(f"{name.text} = ", call) for name, call in zip((row, column), asked, strict=True)]
    return (*start, Block("if ", Atom(GROUP), in_groups), *mapped(body, lambda node, _: ids.get(node, node)))


def _free(name: str, taken: Collection[str]) -> str:
    return name if name not in taken else _free(f"{name}_", taken)
