"""The passes that define what a kernel means, before C is printed.

Input: a kernel as checked, its effects sequenced. Output: the same without loads that a loop makes ahead and never
uses (they may be out of bounds). ``break``, ``continue`` and ``return`` stay where no load moves: C has them.
"""

from __future__ import annotations

from pytriton.lang.tree import typed
from pytriton.lang.tree.walk import statements
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.loops.counted import counted
from pytriton.passes.loops.prefetch import prefetch
from pytriton.passes.lower.jumps import jumps

_JUMPS = typed.Break | typed.Continue | typed.Return | typed.DoWhile


def meaning(kernel: typed.KernelDef, context: PassContext) -> typed.KernelDef:
    """The kernel as C prints it."""
    if not any(isinstance(statement, _JUMPS) for statement in statements(kernel.body)):
        return prefetch(counted(kernel, context), context)
    ranges = counted(jumps(kernel, context), context)
    moved = prefetch(ranges, context)
    return kernel if moved is ranges else moved
