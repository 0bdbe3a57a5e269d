"""Typed tree -> typed tree, one idea a file, in the order in which they run (``PASSES``).

``prefetch`` is the large one: turns.py says what lies around a turn of a loop, slices.py which statements can move
to its start, history.py what a variable holds, match.py whether the statements before the loop do the same,
linear.py calculates with integers for them, and moved.py puts the loop together.

Questions that several passes ask: provenance.py (which memory does a pointer reach), disjoint.py (are two pointers
apart), liveness.py (may a value still be read), constants.py (is a variable a number), dead.py (what did a pass
leave unread), rewrite.py (the rest).
"""

from collections.abc import Callable
from functools import wraps

from pytriton.errors import Report
from pytriton.lang.typed import KernelDef
from pytriton.passes.barriers import barriers
from pytriton.passes.chain import chain
from pytriton.passes.divisors import divisors
from pytriton.passes.entered import entered
from pytriton.passes.jumps import jumps
from pytriton.passes.loops import loops
from pytriton.passes.pad import pad
from pytriton.passes.powers import powers
from pytriton.passes.prefetch import prefetch
from pytriton.passes.products import products
from pytriton.passes.recheck import recheck
from pytriton.passes.split import split
from pytriton.passes.temporaries import temporaries
from pytriton.passes.unreached import unreached
from pytriton.passes.upward import upward

__all__ = ["PASSES", "run"]

Pass = Callable[[KernelDef, Report], KernelDef]


def _silent(step: Callable[[KernelDef], KernelDef]) -> Pass:
    """A pass that has nothing to tell the user."""

    @wraps(step)
    def told(kernel: KernelDef, _: Report) -> KernelDef:
        return step(kernel)

    return told


PASSES: tuple[Pass, ...] = (
    *map(_silent, (products, divisors, pad, jumps, loops, unreached)),
    prefetch,
    *map(_silent, (upward, barriers, chain, powers, split, recheck, entered, temporaries)),
)


def run(kernel: KernelDef, report: Report | None = None) -> KernelDef:
    """Every pass in turn; what the user may want to know goes to the report."""
    report = report or Report()
    for step in PASSES:
        kernel = step(kernel, report)
    return kernel
