"""The exported module as a user of Triton runs it: under plain ``@triton.jit``, which looks at the values.

An int that has no annotation is specialised by its value: 1 becomes a constant of Python, and what does not fit 32
bits an ``i64``. What becomes of each argument is asked of Triton's own binder. On a GPU ``@triton.jit`` runs the
module; on the CPU the interpreter does, and is given exactly these constants and types.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend
from triton.runtime.interpreter import TensorHandle
from triton.runtime.jit import create_function_from_signature

import pytriton
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Translation
from pytriton.runtime.compile.load import LoadedModule, load
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.launch.device import signed_bytes
from tests.oracle.judges import Case, translation_of

__all__ = ["Plain"]


class Plain:
    """One kernel to call as ``pytriton.Kernel`` is called: with tensors and numbers, and a grid."""

    def __init__(self, case: Case, kernel: pytriton.Kernel, text: str | None = None) -> None:
        """``text``: a module instead of that of the kernel."""
        self.translation: Translation = translation_of(kernel, case)
        self.module = load(self.translation.function, text or self.translation.text)

    def changed(self, arguments: Sequence[Any]) -> tuple[str | None, ...]:
        """For each argument the type that it gets from its value, "constexpr" if none; None as declared.

        ``arguments``: numbers, anything for pointers.
        """
        nothing = torch.zeros(1)
        given = [
            nothing if isinstance(p.type, PointerType) else a
            for p, a in zip(self.translation.parameters, arguments, strict=False)
        ]
        types = _specialized(self.module, (*given, *self.translation.constexprs.values()))
        return tuple(
            None if isinstance(p.type, PointerType) or _same(found, p.type.triton) else found
            for p, found in zip(self.translation.parameters, types, strict=False)
        )

    def __call__(self, *arguments: Any, grid: tuple[int, ...]) -> None:
        if any(isinstance(a, torch.Tensor) and a.is_cuda for a in arguments):
            fusion = not self.translation.traits.doubles  # as the launcher has it: double is exact
            unsigned = signed_bytes(self.translation.parameters)  # Triton 3.6 takes 0 to 255 for a char
            given = [a & 0xFF if at in unsigned else a for at, a in enumerate(arguments)]
            run = self.module.compiled[grid]
            run(*given, **self.translation.constexprs, enable_fp_fusion=fusion)
            return
        runs = _Interpreted(self.module, self.translation, self.changed(arguments))
        values = [a.data_ptr() if isinstance(a, torch.Tensor) else 0 if a is None else a for a in arguments]
        runs.run((*grid, *(1,) * (3 - len(grid))), values)  # type: ignore[arg-type]


class _Interpreted(Interpreted):
    """The interpreter with some arguments as constants, or of another type."""

    def __init__(self, module: LoadedModule, translation: Translation, changed: Sequence[str | None]) -> None:
        super().__init__(module, translation.parameters, translation.constexprs, ones=True)
        self._ones = {}  # ``changed`` says which
        written = self._function.rewrite()  # where the interpreter looks for annotations
        for parameter, found in zip(translation.parameters, changed, strict=True):
            if found == "constexpr":
                written.__annotations__[parameter.identifier] = tl.constexpr
        self._wrap = tuple(
            wrap
            if found is None
            else _constant
            if found == "constexpr"
            else functools.partial(_number, found)
            for wrap, found in zip(self._wrap, changed, strict=True)
        )


def _constant(value: Any) -> Any:
    """A number of Python, as the compiler has it where it meets a tensor."""
    return value


def _number(found: str, value: Any) -> Any:
    type_ = tl.str_to_ty(found, None)
    return tl.tensor(TensorHandle(np.array([value], str(type_).replace("fp", "float")), type_), type_)


_NAMES = {
    "u1": "int1",
    "i1": "int1",
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
}


def _same(found: str, declared: str) -> bool:
    name = _NAMES.get(found) or f"{'u' if found[0] == 'u' else ''}int{found[1:]}"
    return name == declared


@functools.cache
def _backend() -> Any:
    return make_backend(GPUTarget("cuda", 80, 32))


def _specialized(module: LoadedModule, arguments: Sequence[Any]) -> list[str]:
    """The types that ``@triton.jit`` gives these arguments."""
    function = module.compiled
    bind = create_function_from_signature(function.signature, function.params, _backend())
    _, specialization, _ = bind(*arguments)
    return [found[0] for found in specialization]
