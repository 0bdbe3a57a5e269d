"""Loops that read a stream without multiplying matrices: how many steps ahead their loads are to run.

Triton pipelines a loop of its own accord only where the loads feed a ``tl.dot``; else it has to be told, by
``tl.range(..., num_stages=3)``. Loads of later steps then come before the stores of this one, so a loop is told
only where no store of it may reach what it loads, and nothing in it orders memory. What is loaded stays the same;
how many stages pay is measured (runtime/sweep/sweep.py).

Gain: batch norm on an H200 with Triton 3.6, 3806 GB/s for 3492 (benchmarks/NOTES.md).
Switch: ``Settings.num_stages``, which tuning sets (runtime/sweep/sweep.py).
Try without it: tuning measures both every time; by rule with the first Triton that pipelines such loops by itself.
"""

from __future__ import annotations

from dataclasses import replace

from pytriton.lang.tree import typed
from pytriton.lang.tree.walk import bodies, kinds_in, map_body, statements
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import nodes
from pytriton.passes.memory.provenance import Provenance


def can_stream(kernel: typed.KernelDef, provenance: Provenance) -> bool:
    """Whether the kernel has such a loop."""
    return any(_streams(statement, provenance) for statement in statements(kernel.body))


def stages(kernel: typed.KernelDef, context: Context) -> typed.KernelDef:
    """``range(0, N, TN)`` as ``tl.range(0, N, TN, num_stages=3)``, if so many stages are asked for."""
    number = context.settings.num_stages
    if number is None:
        return kernel
    provenance = Provenance(kernel)

    def with_stages(statement: typed.Statement) -> typed.Statement:
        if isinstance(statement, typed.RangeLoop) and _streams(statement, provenance):
            return replace(statement, stages=number)
        return statement

    return replace(kernel, body=map_body(kernel.body, with_stages))


def _streams(statement: typed.Statement, provenance: Provenance) -> bool:
    if not isinstance(statement, typed.RangeLoop) or any(map(bodies, statement.body)):
        return False
    kinds = kinds_in(statement.body)
    if typed.Load not in kinds or typed.Dot in kinds:
        return False
    loads = nodes(statement.body, typed.Load)
    return not any(provenance.writes_to(statement.body, load.pointer) for load in loads)
