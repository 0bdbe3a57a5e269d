"""Typed tree -> typed tree, one idea a file, in the order in which they run."""

from pytriton.lang.typed import KernelDef
from pytriton.passes.barriers import barriers
from pytriton.passes.chain import chain
from pytriton.passes.jumps import jumps
from pytriton.passes.loops import loops
from pytriton.passes.pad import pad
from pytriton.passes.prefetch import prefetch
from pytriton.passes.products import products
from pytriton.passes.temporaries import temporaries

__all__ = ["PASSES", "run"]

PASSES = (products, pad, jumps, loops, prefetch, barriers, chain, temporaries)


def run(kernel: KernelDef) -> KernelDef:
    """Every pass in turn."""
    for step in PASSES:
        kernel = step(kernel)
    return kernel
