"""How large one kernel may be: what keeps each text within a second.

The length of a text does not bound what becomes of it. A ``?:`` brings its condition to each load in its branches,
GNU's ``a ?: b`` has ``a`` twice, and the passes look into a loop again for each loop around it. So the typed tree
is counted: each operand as often as it will be printed, each statement once more for each loop around it. A dense
kernel of 5,000 lines has five sixths of what is taken.
"""

from __future__ import annotations

from typing import Final

from pytriton.errors import Report
from pytriton.lang.tree.typed import Body, Expr, If, Load
from pytriton.lang.tree.walk import bodies, children, expressions, known_below
from pytriton.source import Span

MAX_STATEMENTS: Final = 6_000
MAX_NODES: Final = 26_000


def count_nodes(expr: Expr, limit: int) -> int:
    """The nodes of an expression, loads twice; where there are more than ``limit``, some number above it."""
    below = known_below(expr)
    if below is not None:
        return 1 + len(below) + sum([node.__class__ is Load for node in (expr, *below)])
    pending, count = [expr], 0
    while pending and count <= limit:
        node = pending.pop()
        pending += children(node)
        count += 1 + (node.__class__ is Load)  # barriers are put between them
    return count


def refuse_large(name: str, body: Body, where: Span, report: Report) -> None:
    """Refuse a kernel with more statements or nodes than that (TC011)."""
    if _statements(body, 1) > MAX_STATEMENTS:
        what = f"{MAX_STATEMENTS} statements, those in loops counted again for each loop around them"
        help_ = "write several kernels, and a loop for what repeats"
        report.fatal("TC011", f"kernel '{name}' has more than {what}", where, help=help_)
    left = MAX_NODES
    for expr in expressions(body):
        left -= count_nodes(expr, left)
        if left < 0:
            what = f"{MAX_NODES} operators and operands"
            help_ = (
                "a '?:' brings its condition to every load in its branches: compute that in a variable first"
            )
            report.fatal("TC011", f"kernel '{name}' has more than {what}", where, help=help_)


def _statements(body: Body, weight: int) -> int:
    count = weight * len(body)
    for statement in body:
        for inner in bodies(statement):
            count += _statements(inner, weight if isinstance(statement, If) else weight + 1)
    return count
