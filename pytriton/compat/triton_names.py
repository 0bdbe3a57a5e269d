"""Private names of Triton, read in Triton 3.6 to 3.9.

Where Triton is not installed (there is none for macOS and Windows), each name is ``Absent``: no value is one.
"""

from __future__ import annotations

from functools import partial
from typing import Any


class _AbsentType(type):
    def __getattr__(cls, name: str) -> Any:
        return cls


class Absent(Exception, metaclass=_AbsentType):
    """Stands for each name of Triton, and for each of its attributes."""

    __version__ = "0.0"


absent = partial(getattr, Absent)  # ``__getattr__`` of a module of such names


try:
    import triton as triton
    from triton import knobs as knobs
    from triton import testing as testing
    from triton._C.libtriton import ir as ir
    from triton.backends.compiler import GPUTarget as GPUTarget
    from triton.compiler import ASTSource as ASTSource
    from triton.compiler import make_backend as make_backend
    from triton.compiler.errors import CompilationError as CompilationError
    from triton.runtime import build as build
    from triton.runtime.driver import driver as driver
    from triton.runtime.errors import InterpreterError as InterpreterError
    from triton.runtime.errors import OutOfResources as OutOfResources
    from triton.runtime.errors import PTXASError as PTXASError
    from triton.runtime.jit import JITFunction as JITFunction
except ModuleNotFoundError as error:
    if error.name != "triton":
        raise
    __getattr__ = absent
