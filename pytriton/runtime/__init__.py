"""From a generated module to launches.

errors.py     how the runtime says no, and all its codes
locks.py      what a forked child must not inherit
tensors.py    empty, synchronize, cdiv, shape and the other names of old; times by tensor
testing.py    do_bench, and tensors made of blocks
options/      what users say: a text, its defines, configs, in the styles of three years
launch/       a call with known defines -> a launch: the slow path, which explains, and the fast path
compile/      a generated module -> machine code: the cache, the gate, Triton's compiler
interpret/    the same on CPU tensors, by Triton's interpreter
sweep/        the candidates that one set of defines means
tune/         which candidate serves a call
plan.py       all candidates of one set of defines, and the way of a call through them
trace/        calls under torch.compile and other tracers, and inside operators
pickled.py    a kernel as plain data
kernel.py     ``pytriton.kernel``: the object that users hold, its constructor and its call
compare.py    the door of generated tests of an earlier time; ``pytriton.testing`` is today's
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
