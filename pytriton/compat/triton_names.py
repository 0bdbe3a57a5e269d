"""Private names of Triton, read in Triton 3.6 to 3.9."""

from __future__ import annotations

from triton._C.libtriton import ir as ir
from triton.backends.compiler import GPUTarget as GPUTarget
from triton.compiler import ASTSource as ASTSource
from triton.compiler import make_backend as make_backend
from triton.runtime.errors import InterpreterError as InterpreterError
from triton.runtime.jit import JITFunction as JITFunction
