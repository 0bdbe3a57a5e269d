"""Generated kernels in C, judged by the evaluator of the language."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch

from pytriton.errors import CompileError
from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import NoLibrary, find
from pytriton.runtime.native.processor import native
from pytriton.settings import Settings
from tests.fuzz.choices import Recorded
from tests.fuzz.kernels import generate
from tests.oracle.judges import Case, checked, compare, emitted, evaluated
from tests.oracle.memory import Undefined

FLAGS = ("-O1", "-Wall", "-Wextra", "-Werror")
KERNELS = 20
SEED = 430_000

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")


def judged(case: Case) -> bool:
    """Compare C with the evaluator; whether the kernel has a meaning."""
    try:
        tree = checked(case.source, case.defines, case.strict)
        memory = evaluated(case, tree)
    except (CompileError, Undefined):
        return False
    kernel = native(to_c(case.source, case.defines, Settings(strict_literals=case.strict)), *FLAGS)
    assert not isinstance(kernel, NoLibrary), kernel.reason
    buffers = []
    for symbol in tree.parameters[len(case.arguments) :]:
        buffer = numpy.zeros(symbol.buffer, numpy.uint8)
        given = case.constants.get(symbol.name, buffer[:0])
        buffer[: given.size] = given
        buffers.append(torch.from_numpy(buffer))

    def run(*arguments: Any, grid: tuple[int, ...]) -> None:
        x, y, z = (*grid, 1, 1)[:3]
        values = [
            value.data_ptr() if isinstance(value, torch.Tensor) else value or 0
            for value in (*arguments, *buffers)
        ]
        kernel.run((x, y, z), values)

    found = emitted(case, SimpleNamespace(_default=None), watch=False, run=run)  # type: ignore[arg-type]
    compare(case, memory, found, "C")
    return True


def test_generated_kernels() -> None:
    decided = 0
    for seed in range(SEED, SEED + KERNELS):
        case = generate(Recorded(seed))
        try:
            decided += judged(case)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}\n{case.source}") from error
    assert decided > KERNELS // 2
