"""Loops that read a stream without multiplying matrices: how many steps ahead their loads are to run.

Triton pipelines a loop of its own accord only where the loads feed a ``tl.dot``; else it has to be told, by
``tl.range(..., num_stages=3)``. Loads of later steps then come before the stores of this one, so a loop is told
only where no store of it may reach what it loads, and nothing in it orders memory. What is loaded stays the same;
how many stages pay is measured (runtime/sweep/variants.py).
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.tree.typed import Dot, KernelDef, Load, RangeLoop, Statement
from pytriton.lang.tree.walk import bodies, kinds_in, map_body, statements
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import nodes
from pytriton.passes.memory.provenance import Provenance

__all__ = ["can_stream", "stream"]


def can_stream(kernel: KernelDef, provenance: Provenance) -> bool:
    """Whether the kernel has such a loop."""
    return any(_streams(statement, provenance) for statement in statements(kernel.body))


def stream(kernel: KernelDef, context: Context) -> KernelDef:
    """The kernel with as many stages for such loops as are asked for."""
    stages = context.settings.num_stages
    if stages is None:
        return kernel
    provenance = Provenance(kernel)

    def told(statement: Statement) -> Statement:
        if isinstance(statement, RangeLoop) and _streams(statement, provenance):
            return replace(statement, stages=stages)
        return statement

    return replace(kernel, body=map_body(kernel.body, told))


def _streams(statement: Statement, provenance: Provenance) -> bool:
    if not isinstance(statement, RangeLoop) or any(map(bodies, statement.body)):
        return False
    found = kinds_in(statement.body)
    if Load not in found or Dot in found:
        return False
    loads = nodes(statement.body, Load)
    return not any(provenance.writes_to(statement.body, load.pointer) for load in loads)
