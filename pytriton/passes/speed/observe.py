"""What tuning wants to know of a kernel, read off its typed tree before anything that tuning tries.

It changes nothing, so it has neither a gain nor a switch of its own: the passes after it use what it finds.
"""

from __future__ import annotations

from pytriton.frozen import replace
from pytriton.lang.tree import typed
from pytriton.lang.tree.convert import scalar_of
from pytriton.lang.tree.types import DOUBLE
from pytriton.lang.tree.walk import kinds_in, statements
from pytriton.passes.analysis.context import Context
from pytriton.passes.analysis.queries import nodes
from pytriton.passes.memory.provenance import Provenance
from pytriton.passes.speed.stages import can_stream
from pytriton.passes.speed.swizzle import can_swizzle, grows
from pytriton.passes.speed.tiles import largest_tiles


def observe(kernel: typed.KernelDef, context: Context) -> typed.KernelDef:
    """The kernel as it is; its traits are in the context."""
    context.traits = replace(
        context.traits,
        swizzles=can_swizzle(kernel),
        grows=can_swizzle(kernel) and grows(kernel),
        pipelined=any(map(_is_pipelined, statements(kernel.body))),
        streams=can_stream(kernel, Provenance(kernel)),
        doubles=any(scalar_of(operation.type) == DOUBLE for operation in nodes(kernel.body, typed.Binary)),
        tiles=largest_tiles(kernel.body),
    )
    return kernel


def _is_pipelined(statement: typed.Statement) -> bool:
    """Whether a statement is a loop that Triton pipelines of its own accord."""
    if not isinstance(statement, typed.RangeLoop):
        return False
    kinds = kinds_in(statement.body)
    return typed.Dot in kinds and (typed.Load in kinds or typed.Atomic in kinds)
