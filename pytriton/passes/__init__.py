"""Typed tree -> typed tree, one idea per file. ``PASSES`` lists all passes in the order in which they run.

analysis/  shared analyses: equality of sums, liveness, the variables that a value is computed from
memory/    which memory a pointer reaches, which accesses may overlap, where barriers go
lower/     rewrites of what Triton does not support
loops/     C's loops as ``range``; loads that were prefetched by hand, moved back to the top of their loop
speed/     optimisations
check/     for checked code, after all passes: a number for each access
"""

from collections.abc import Callable
from typing import NamedTuple

from pytriton.lang.tree.typed import KernelDef
from pytriton.passes.analysis.context import PassContext
from pytriton.passes.loops.counted import counted, upward
from pytriton.passes.loops.prefetch import prefetch
from pytriton.passes.lower.jumps import jumps
from pytriton.passes.lower.pad import pad
from pytriton.passes.lower.products import accumulate, products
from pytriton.passes.lower.temporaries import divisors, temporaries
from pytriton.passes.lower.unreached import unreached
from pytriton.passes.memory.barriers import barriers
from pytriton.passes.memory.provenance import check_qualifiers
from pytriton.passes.speed.descriptors import descriptors
from pytriton.passes.speed.fast_math import exp2, fast_math
from pytriton.passes.speed.guard import guard
from pytriton.passes.speed.packing import packed
from pytriton.passes.speed.peel import peel
from pytriton.passes.speed.rematerialise import rematerialise
from pytriton.passes.speed.swizzle import swizzle
from pytriton.passes.speed.traits import observe, stages

__all__ = ["PASSES", "Pass", "PassContext", "run"]


class Pass(NamedTuple):
    """A pass maps a kernel to a kernel; nodes that it does not change stay identical."""

    run: Callable[[KernelDef, PassContext], KernelDef]
    purpose: str
    needed: bool = False  # Triton does not compile the kernel without it

    @property
    def name(self) -> str:
        return self.run.__name__


PASSES: tuple[Pass, ...] = (
    # Lowering
    Pass(check_qualifiers, "warnings for __readonly, const and __writeonly that are false"),
    Pass(products, "matrix products of shapes and types that tl.dot lacks", needed=True),
    Pass(divisors, "a divisor that may be 0, and whose quotient is then unused, as 1"),
    Pass(pad, "blocks of any size, padded to powers of two", needed=True),
    Pass(jumps, "break, continue and return as conditions", needed=True),
    Pass(counted, "counting loops as ranges"),
    Pass(unreached, "loops and branches that never run, dropped"),
    Pass(prefetch, "prefetched loads, back at the top of the loop body"),
    Pass(packed, "operands read from copies whose rows are aligned, as tuning tries"),
    Pass(upward, "ranges that count down, unobserved, count up"),
    Pass(barriers, "barriers between accesses of different threads that may overlap"),
    # Optimisations
    Pass(accumulate, "c += a @ b as one product that accumulates"),
    Pass(fast_math, "arithmetic that rounds differently, if the user allows it"),
    Pass(exp2, "exp in a loop with a matrix product as exp2"),
    Pass(peel, "loops without masks, and the last iteration, where these fail, after them"),
    Pass(rematerialise, "masks recomputed where keeping them costs registers"),
    Pass(guard, "a workaround for a ptxas version that serializes products"),
    Pass(temporaries, "variables for expressions that Python would repeat", needed=True),
    # Variants that tuning tries
    Pass(observe, "facts about the kernel so far, for tuning"),
    Pass(descriptors, "tiles through tensor descriptors"),
    Pass(swizzle, "program ids in groups, for the level-2 cache"),
    Pass(stages, "stages for loops without a product"),
)


def run(kernel: KernelDef, context: PassContext | None = None) -> KernelDef:
    """The kernel after every pass; traits and diagnostics are in the context."""
    context = context or PassContext()
    for step in PASSES:
        if step.needed or not context.settings.traced:
            kernel = step.run(kernel, context)
    return kernel
