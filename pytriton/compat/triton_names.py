"""Private names of Triton, read in Triton 3.6 to 3.9."""

from __future__ import annotations

from triton import knobs as knobs
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
