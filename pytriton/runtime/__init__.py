"""From a generated module to launches. Only this package and ``operators`` import torch and triton.

What users hold:

    kernel.py        ``pytriton.kernel``: the object, its constructor and its call
    eras.py          which era's constructor was called
    options/pending.py       whether an error in a text may be a define that comes with the call
    options/defines.py       defines, points of a sweep, and what a grid callable gets
    heuristics.py    defines computed from the arguments of a call
    tensors.py         cdiv, next_power_of_2, shape
    tensors.py       empty, synchronize
    tensors.py      bench_registry, ctx_registry
    testing.py       do_bench, and tensors made of blocks
    errors.py        where in the user's code we are
    errors.py      how the runtime says no, and all its codes

The way of a call:

    options/source_text.py          a source and how it is translated
    plan.py          the sweep that one set of defines means, and the way of a call through it
    arguments.py     checking and converting the arguments of a call
    constants.py     constant buffers: calloc and set_constant
    candidate.py     one point of a sweep: translated, loaded, compiled, launched
    tune/benchmark.py          choosing among candidates
    ranks.py         one choice for all ranks of torch.distributed
    record.py        what tuning found, kept for the next process; pinned choices
    tune/snapshot.py       memory that a kernel writes, saved and put back
    trace/frames.py        what a running operator hears of the launches in its body
    trace/dynamo.py        the same way under torch.compile and other tracers
    opaque.py        a launch as one operator of torch, where tracers cannot see into it

From text to machine code:

    compile/module_cache.py         the private directory that holds generated modules
    gate.py          what a generated module may contain
    load.py          module text -> functions, for the compiler and for the interpreter
    specialize.py    what the compiler is told about arguments
    compile/compiler.py       one specialised function -> machine code for one target
    failures.py      when Triton refuses: whose line was it?
    exclusion.py     compiling and interpreting keep out of each other's way
    launch/device.py        grids, devices, streams: a compiled kernel on a GPU
    interpret/interpreter.py     the same on CPU tensors, by Triton's interpreter
    bfloat16.py      what that interpreter gets wrong about bfloat16
"""

from pytriton.runtime.kernel import Kernel, heuristics, kernel
from pytriton.runtime.options.defines import Config, Options, config
from pytriton.runtime.tensors import (
    IdDict,
    bench_registry,
    cdiv,
    cdiv_sum,
    ctx_registry,
    empty,
    next_power_of_2,
    shape,
    synchronize,
)

__all__ = [
    "Config",
    "IdDict",
    "Kernel",
    "Options",
    "bench_registry",
    "cdiv",
    "cdiv_sum",
    "config",
    "ctx_registry",
    "empty",
    "heuristics",
    "kernel",
    "next_power_of_2",
    "shape",
    "synchronize",
]
