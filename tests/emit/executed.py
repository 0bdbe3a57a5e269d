"""Run printed modules on Triton's interpreter as it comes, from a file and by ``exec``; print what is wrong.

A process of its own with TRITON_INTERPRET=1, where ``@triton.jit`` makes interpreted functions (test_executed.py).
By ``exec`` Triton finds no source to rewrite, so that a variable which is assigned a number stays a Python number.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

import pytriton
from tests.emit.test_executed import PROGRAMS, SAMPLE
from tests.translate.cases import load, runs, translated
from tests.translate.test_translate import equal, evaluated


def from_file(translation: pytriton.Translation) -> Any:
    """The kernel of a module in a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "printed.py")
        path.write_text(translation.text)
        spec = importlib.util.spec_from_file_location("printed", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        kernel = getattr(module, translation.function)
        kernel.rewrite()  # while the file is there
    return kernel


def from_string(translation: pytriton.Translation) -> Any:
    """The kernel of a module that has no file."""
    namespace: dict[str, Any] = {}
    exec(translation.text, namespace)
    return namespace[translation.function]


def program(parameters: str, body: str, numbers: Sequence[int], how: Callable[..., Any]) -> None:
    """Compare a program with its launch."""
    source = f"__global__ void f({parameters}) {{ {body} }}"
    dtype = torch.float32 if parameters.startswith("float") else torch.int32
    got, want = torch.zeros(4, dtype=dtype), torch.zeros(4, dtype=dtype)
    defines = {"T": 77}
    translation = pytriton.translate(source, defines)
    how(translation)[(1,)](got, *numbers, **translation.constexprs)
    pytriton.kernel(source)(want, *numbers, grid=1, defines=defines)
    assert got.tolist() == want.tolist(), f"{got.tolist()}, launched {want.tolist()}"


def golden(case: str, how: Callable[..., Any]) -> None:
    """Compare a case of tests/translate with what it expects, as its launch is compared."""
    translation = translated(case)
    for run in runs(load(case)):
        arguments, expected = evaluated(run)
        how(translation)[tuple(run["grid"])](*arguments.values(), **translation.constexprs)
        equal(case, run, arguments, expected)


def main() -> None:
    for how in (from_file, from_string):
        for parameters, body, numbers in PROGRAMS:
            report(f"{how.__name__}: {body}", lambda: program(parameters, body, numbers, how))  # noqa: B023
        for case in SAMPLE:
            report(f"{how.__name__}: {case}", lambda: golden(case, how))  # noqa: B023


def report(name: str, check: Callable[[], None]) -> None:
    try:
        check()
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stdout)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
