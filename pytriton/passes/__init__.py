"""Typed tree -> typed tree, one idea a file. ``PASSES`` is the list of all of them, in the order in which they run.

``prefetch`` is the large one: turns.py says what lies around a turn of a loop, slices.py which statements can move
to its start, history.py what a variable holds, match.py whether the statements before the loop do the same,
linear.py calculates with integers for them, and moved.py puts the loop together.

Questions that several passes ask: provenance.py (which memory does a pointer reach), disjoint.py (are two pointers
apart), liveness.py (may a value still be read), constants.py (is a variable a number), dead.py (what did a pass
leave unread), rewrite.py (the rest).
"""

from collections.abc import Callable
from typing import NamedTuple

from pytriton.lang.typed import KernelDef
from pytriton.passes.barriers import barriers
from pytriton.passes.beliefs import warn_of_beliefs
from pytriton.passes.chain import chain
from pytriton.passes.context import Context
from pytriton.passes.descriptors import descriptors
from pytriton.passes.divisors import divisors
from pytriton.passes.entered import entered
from pytriton.passes.jumps import jumps
from pytriton.passes.loops import loops
from pytriton.passes.observe import observe
from pytriton.passes.pad import pad
from pytriton.passes.powers import powers
from pytriton.passes.prefetch import prefetch
from pytriton.passes.products import products
from pytriton.passes.recheck import recheck
from pytriton.passes.remap import swizzle
from pytriton.passes.split import split
from pytriton.passes.streams import stream
from pytriton.passes.temporaries import temporaries
from pytriton.passes.unreached import unreached
from pytriton.passes.upward import upward

__all__ = ["PASSES", "Context", "Pass", "run"]


class Pass(NamedTuple):
    """A pass takes a kernel and gives one; what it leaves alone stays identical."""

    run: Callable[[KernelDef, Context], KernelDef]
    purpose: str

    @property
    def name(self) -> str:
        return self.run.__name__


PASSES: tuple[Pass, ...] = (
    # What Triton lacks, in terms of what it has
    Pass(warn_of_beliefs, "warn of __readonly, const and __writeonly that are false"),
    Pass(products, "matrix products of shapes and types that tl.dot lacks"),
    Pass(divisors, "a 1 for a divisor that may be 0 where the quotient is not used"),
    Pass(pad, "blocks of any size, padded to powers of two"),
    Pass(jumps, "break, continue and return as conditions"),
    Pass(loops, "counting loops as ranges"),
    Pass(unreached, "loops and branches that never run, dropped"),
    Pass(prefetch, "loads that a loop makes ahead, back at the top of its body"),
    Pass(upward, "ranges that count down, with nobody looking, count up"),
    Pass(barriers, "order between the threads of a program that meet in memory"),
    # What makes kernels faster
    Pass(chain, "c += a @ b as one product that accumulates"),
    Pass(powers, "exp beside a product as exp2"),
    Pass(split, "a loop whose masks fail in its last iteration only, split in two"),
    Pass(recheck, "masks computed again where holding them costs registers"),
    Pass(entered, "a way round a version of ptxas that serializes products"),
    Pass(temporaries, "names for what Python would have to say twice"),
    # What tuning tries
    Pass(observe, "what tuning wants to know of the kernel so far"),
    Pass(descriptors, "tiles through tensor descriptors"),
    Pass(swizzle, "program ids in groups, for the level-2 cache"),
    Pass(stream, "stages for loops without a product"),
)


def run(kernel: KernelDef, context: Context | None = None) -> KernelDef:
    """The kernel after every pass; what they learn of it, and what the user may want to know, is in the context."""
    context = context or Context()
    for step in PASSES:
        kernel = step.run(kernel, context)
    return kernel
