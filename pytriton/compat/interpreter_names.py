"""Private names of Triton's interpreter, read in Triton 3.6 to 3.9; apart, as few programs load it."""

from __future__ import annotations

from typing import Any

from pytriton.compat.triton_names import Absent, absent, triton

if triton is Absent:
    __getattr__ = absent
else:
    from triton.language.semantic import TritonSemantic as TritonSemantic
    from triton.runtime import interpreter as interpreter
    from triton.runtime.interpreter import ASTTransformer as ASTTransformer
    from triton.runtime.interpreter import InterpretedFunction as InterpretedFunction
    from triton.runtime.interpreter import InterpreterBuilder as InterpreterBuilder
    from triton.runtime.interpreter import ReduceOps as ReduceOps
    from triton.runtime.interpreter import TensorHandle as TensorHandle
    from triton.runtime.interpreter import interpreter_builder as interpreter_builder

    tl: Any = triton.language
    native_interpreter: Any = interpreter._interpreter  # what of it is in C++
