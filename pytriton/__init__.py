"""pytriton: old Triton-C kernels as modern ``@triton.jit`` Python.

Names are loaded on first use (PEP 562): ``translate`` and the errors need neither torch nor triton.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pytriton.errors import (
    CheckError,
    CompileError,
    LaunchError,
    ParseError,
    PreprocessError,
    PytritonError,
    TuneError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from pytriton.pipeline import Translation, translate
    from pytriton.runtime import (
        Kernel,
        bench_registry,
        cdiv,
        cdiv_sum,
        config,
        heuristics,
        kernel,
        next_power_of_2,
    )

__version__ = "0.1.0"

__all__ = [
    "CheckError",
    "CompileError",
    "Kernel",
    "LaunchError",
    "ParseError",
    "PreprocessError",
    "PytritonError",
    "Translation",
    "TuneError",
    "UnsupportedError",
    "__version__",
    "bench_registry",
    "cdiv",
    "cdiv_sum",
    "config",
    "heuristics",
    "kernel",
    "next_power_of_2",
    "translate",
]

# Where a name that is loaded on first use lives.
_LAZY = {
    **dict.fromkeys(("Translation", "translate"), "pytriton.pipeline"),
    **dict.fromkeys(
        (
            *("Kernel", "bench_registry", "cdiv", "cdiv_sum"),
            *("config", "heuristics", "kernel", "next_power_of_2"),
        ),
        "pytriton.runtime",
    ),
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'pytriton' has no attribute '{name}'")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
