"""pytriton: old Triton-C kernels as modern ``@triton.jit`` Python.

Names are loaded on first use (PEP 562): ``translate`` and the errors need neither torch nor triton.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytriton.gradient  # noqa: F401
from pytriton.errors import (
    CheckError,
    CompileError,
    LaunchError,
    ParseError,
    PreprocessError,
    PytritonError,
    PytritonWarning,
    TuneError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from pytriton import testing
    from pytriton.gradient.backward import gradient
    from pytriton.legacy.imports import legacy_imports
    from pytriton.legacy.sources import read
    from pytriton.legacy.submodules import utils
    from pytriton.operators.autograd import function
    from pytriton.operators.operator import op
    from pytriton.operators.overrides import override
    from pytriton.pipeline import Translation, translate
    from pytriton.runtime.kernel import Kernel, heuristics, kernel
    from pytriton.runtime.options.annotations import Grid
    from pytriton.runtime.options.defines import UnknownDefineError, config
    from pytriton.runtime.tensors import (
        bench_registry,
        cdiv,
        cdiv_sum,
        ctx_registry,
        empty,
        next_power_of_2,
        shape,
        synchronize,
    )

__version__ = "0.2.0"
globals().pop("gradient")  # the package, now loaded: its name is the function's

__all__ = [
    "CheckError",
    "CompileError",
    "Grid",
    "Kernel",
    "LaunchError",
    "ParseError",
    "PreprocessError",
    "PytritonError",
    "PytritonWarning",
    "Translation",
    "TuneError",
    "UnknownDefineError",
    "UnsupportedError",
    "__version__",
    "bench_registry",
    "cdiv",
    "cdiv_sum",
    "config",
    "ctx_registry",
    "empty",
    "function",
    "gradient",
    "heuristics",
    "kernel",
    "legacy_imports",
    "next_power_of_2",
    "op",
    "override",
    "read",
    "shape",
    "synchronize",
    "testing",
    "translate",
    "utils",
]

# Where a name that is loaded on first use lives.
_LAZY = {
    **dict.fromkeys(("Translation", "translate"), "pytriton.pipeline"),
    **dict.fromkeys(("Kernel", "heuristics", "kernel"), "pytriton.runtime.kernel"),
    **dict.fromkeys(
        (
            "bench_registry",
            "cdiv",
            "cdiv_sum",
            "ctx_registry",
            "empty",
            "next_power_of_2",
            "shape",
            "synchronize",
        ),
        "pytriton.runtime.tensors",
    ),
    **dict.fromkeys(("UnknownDefineError", "config"), "pytriton.runtime.options.defines"),
    "Grid": "pytriton.runtime.options.annotations",
    "function": "pytriton.operators.autograd",
    "gradient": "pytriton.gradient.backward",
    "op": "pytriton.operators.operator",
    "override": "pytriton.operators.overrides",
    "legacy_imports": "pytriton.legacy.imports",
    "read": "pytriton.legacy.sources",
    "utils": "pytriton.legacy.submodules",
}

_CURES = {
    "jit": "kernels are Triton-C here, pytriton.kernel(source); for @triton.jit, import triton",
    "language": "kernels are Triton-C here, pytriton.kernel(source); for tl, import triton.language as tl",
    "autotune": "give a list, as in pytriton.kernel(source, defines={'TILE': [64, 128]}), and it is tuned",
    "Config": "write pytriton.config(defines={...}, num_warps=4)",
}
"""What of today's Triton has another name here."""


def _loaded(name: str) -> Any:
    if name == "testing":
        return import_module("pytriton.testing")
    if name in ("ops", "nn"):
        raise AttributeError(import_module("pytriton.legacy.imports").explain(f"triton.{name}"))
    if name not in _LAZY:
        message = f"module 'pytriton' has no attribute '{name}'"
        raise AttributeError(f"{message}: {_CURES[name]}" if name in _CURES else message)
    value = getattr(_module(_LAZY[name], f"pytriton.{name}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # to type checkers, a name that is not imported above is a mistake
    __getattr__ = _loaded


def _module(path: str, what: str) -> Any:
    """A module that needs torch and triton; an ImportError in one sentence where these are missing."""
    try:
        return import_module(path)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "numpy", "platformdirs"):
            raise
        missing = error.name
    raise ImportError(
        f"{what} needs {missing}, which is not installed: pip install 'pytriton-c[torch]'; "
        "pytriton.translate does not need it"
    )


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext pytriton`` calls: the cell magic ``%%tritonc``."""
    _module("pytriton.notebook.magic", "%%tritonc").load(shell)


def __dir__() -> list[str]:
    return sorted(__all__)
