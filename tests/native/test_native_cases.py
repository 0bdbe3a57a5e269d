"""The cases of tests/translate, computed by C: quickly compiled and fast code give the same bits."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
import torch

from pytriton.errors import UnsupportedError
from pytriton.native.c_module import to_c
from pytriton.runtime.native.c_compiler import FAST, NoLibrary, find
from pytriton.runtime.native.processor import native
from pytriton.settings import Settings
from tests.translate.test_translate import CASES, equal, evaluated, load, runs, text

WARNINGS = ("-Wall", "-Wextra", "-Werror")

# Cases that need what C lacks; a case that works is taken from the list.
UNSUPPORTED = {"printf": "printf has no C yet"}

pytestmark = pytest.mark.skipif(isinstance(find(), NoLibrary), reason="needs a C compiler")


def bits_of(result: torch.Tensor) -> torch.Tensor:
    """Its bytes; every NaN is the same one, as C leaves the sign and payload of a NaN to the compiler."""
    if result.is_floating_point():
        result = torch.where(result.isnan(), torch.nan, result)
    return result.view(torch.uint8)


def computed(case: str, levels: Sequence[tuple[str, ...]] = ((), (FAST,))) -> None:
    """Run a case in C and compare what it wrote; ``levels``: flags that must give the same bits."""
    data = load(case)
    settings = Settings(
        kernel=data.get("kernel"),
        strict_literals=data.get("strict_literals", False),
        fast_math=data.get("fast_math", False),
    )
    module = to_c(text(case), data.get("defines"), settings, "kernel.c")
    kernels = [native(module, *WARNINGS, *flags) for flags in levels]
    for run in runs(data):
        bits, (given, expected) = [], evaluated(run)
        for kernel in kernels:
            assert not isinstance(kernel, NoLibrary), kernel.reason
            arguments = deepcopy(given)
            x, y, z = (*run["grid"], 1, 1)[:3]
            buffers = [torch.zeros(size, dtype=torch.uint8) for size in module.buffers]
            kernel.run((x, y, z), [launched(value) for value in (*arguments.values(), *buffers)])
            equal(case, run, arguments, expected)
            bits.append([bits_of(arguments[name]) for name in expected])
        assert all(torch.equal(*pair) for other in bits[1:] for pair in zip(bits[0], other, strict=True))


def launched(value: Any) -> Any:
    """An argument as a launch passes it."""
    if isinstance(value, torch.Tensor):
        return value.data_ptr()
    return 0 if value is None else value  # -0.0 is a number


@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled(15)
def test_computes(case: str) -> None:
    if case in UNSUPPORTED:
        with pytest.raises(UnsupportedError, match="TC460"):
            computed(case)
        return
    computed(case)
