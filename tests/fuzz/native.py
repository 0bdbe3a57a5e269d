"""C as a judge: a generated kernel without memory checks, compiled strictly, and as a user's launch runs it.

The first is the function alone, called with addresses; a warning of the compiler counts as a failure. The second is
a launch of the kernel object, with its checks and what it does to arguments. Both must leave the memory that the
evaluator says.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy
import torch

from pytriton.native.c_module import to_c
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.native.c_compiler import VARIABLE, NoLibrary
from pytriton.runtime.native.processor import native
from pytriton.settings import Settings
from tests.oracle.judges import Case, checked, emitted, made
from tests.oracle.values import Array

__all__ = ["FLAGS", "function_in_c", "launched_in_c"]

FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror")


def function_in_c(case: Case) -> list[Array]:
    """The bytes of every buffer after a call of the C function, without memory checks."""
    tree = checked(case.source, case.defines, case.strict)
    with _compiler():
        kernel = native(to_c(case.source, case.defines, Settings(strict_literals=case.strict)), *FLAGS)
    assert not isinstance(kernel, NoLibrary), kernel.reason
    constants = _constants(case, tree.parameters[len(case.arguments) :])

    def run(*arguments: Any, grid: tuple[int, ...]) -> None:
        x, y, z = (*grid, 1, 1)[:3]
        kernel.run((x, y, z), list(map(_passed, (*arguments, *constants))))

    return emitted(case, SimpleNamespace(_default=None), watch=False, run=run)  # type: ignore[arg-type]


def _passed(value: Any) -> Any:
    """What the function is given for an argument: an address, a number, -0.0 among them, or no address."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    return 0 if value is None else value


def _constants(case: Case, symbols: Sequence[Any]) -> list[torch.Tensor]:
    """The constant buffers that a kernel uses, zero behind what they are set to."""
    buffers = []
    for symbol in symbols:
        content = numpy.zeros(symbol.buffer, numpy.uint8)
        given = case.constants.get(symbol.name, content[:0])
        content[: given.size] = given
        buffers.append(torch.from_numpy(content))
    return buffers


def launched_in_c(case: Case) -> list[Array]:
    """The same after a launch of the kernel object, with memory checks; never by the interpreter."""
    with _compiler(), patch.object(Interpreted, "run", None):
        return emitted(case, made(case), watch=False)


@contextmanager
def _compiler() -> Iterator[None]:
    """Inside, launches on the CPU run in C, though ``PYTRITON_CC`` is none for the judges of modules."""
    with patch.dict(os.environ):
        os.environ.pop(VARIABLE, None)
        yield
