"""From a generated module to launches. ARCHITECTURE.md lists the folders, and follows a call through them."""

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
