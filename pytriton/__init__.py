"""pytriton: old Triton-C kernels as modern ``@triton.jit`` Python.

``translate`` and the errors need neither torch nor triton; the names that do are loaded on first use (PEP 562).
"""

from __future__ import annotations

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
from pytriton.pipeline import Translation, translate

if TYPE_CHECKING:
    from pytriton.runtime import Kernel, cdiv, config, kernel, next_power_of_2

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
    "cdiv",
    "config",
    "kernel",
    "next_power_of_2",
    "translate",
]

_RUNTIME = frozenset(("Kernel", "cdiv", "config", "kernel", "next_power_of_2"))


def __getattr__(name: str) -> Any:
    if name in _RUNTIME:
        from pytriton import runtime

        value = getattr(runtime, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'pytriton' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
