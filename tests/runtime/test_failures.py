"""When Triton refuses generated code: its words, the generated file, and the line of the source."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from triton.runtime.errors import InterpreterError, OutOfResources

from pytriton.errors import CompileError, UnsupportedError
from pytriton.runtime.compile import compile_kernel, parse_target
from pytriton.runtime.failures import Generated, does_not_fit
from pytriton.runtime.interpret import Interpreted
from pytriton.runtime.load import load
from pytriton.runtime.options import Config
from pytriton.source import Source
from tests.runtime.kernels import handmade

SOURCE = Source("void f(float* x) {\n  *x = 1;\n  *x = *x @ *x;\n}\n", "f.c")
LINES = {6: 1, 7: 2, 8: 3}
HELP = "help: report this with the source: pytriton should refuse the text or translate it otherwise"


def test_compiler() -> None:
    text = "@triton.jit\ndef f(x):\n    tl.store(x, 1.0)\n    tl.store(x, tl.dot(x, x))\n"
    translation = handmade(text, "float* x", lines=LINES)
    with pytest.raises(UnsupportedError) as caught:
        compile_kernel(translation, (1,), Config(), parse_target("cuda:90"), SOURCE)
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("f.c:3:3: error: Triton refuses the generated code: ")
    assert lines[0].endswith(" [TC530]")
    assert lines[1:3] == ["    3 |   *x = *x @ *x;", "      |   ^~~~~~~~~~~~~"]
    path = load("f", translation.text).path
    assert lines[-2:] == [f"note: the generated code is {path}:8", HELP]


def test_compiler_in_a_pinned_module() -> None:
    """The line that was put at the top of the body does not shift the blame."""
    text = "@triton.jit\ndef f(n):\n    tl.store(n, 1.0)\n    tl.store(n, 1.0)\n"
    translation = handmade(text, "int n", lines=LINES)
    with pytest.raises(UnsupportedError, match=r"^f\.c:2:3: error: Triton refuses"):
        compile_kernel(translation, (2,), Config(), parse_target("cuda:90"), SOURCE)


def test_interpreter() -> None:
    text = "@triton.jit\ndef f(x):\n    tl.store(x, 1.0)\n    tl.store(x, tl.nonsense)\n"
    translation = handmade(text, "float* x", lines=LINES)
    module = load("f", translation.text)
    x = torch.zeros(1)
    with pytest.raises(InterpreterError) as caught:
        Interpreted(module, translation.parameters, {}).run((1, 1, 1), [x.data_ptr()])
    error = Generated(translation, module.path, SOURCE).stopped(caught.value)
    assert type(error) is CompileError
    assert str(error) == (
        "f.c:3:3: error: Triton's interpreter stopped: AttributeError: "
        "module 'triton.language' has no attribute 'nonsense' [TC532]\n"
        "    3 |   *x = *x @ *x;\n"
        "      |   ^~~~~~~~~~~~~\n"
        f"note: the generated code is {module.path}:8\n"
        f"{HELP}"
    )


def test_without_a_line() -> None:
    translation = handmade("@triton.jit\ndef f(x):\n    pass\n", "float* x")
    error = Generated(translation, Path("m.py"), SOURCE).refused(RuntimeError("PTX is bad\nat 3"))
    assert str(error) == (
        "f.c: error: Triton refuses the generated code: RuntimeError: PTX is bad [TC530]\n"
        "note: at 3\n"
        "note: the generated code is m.py\n"
        f"{HELP}"
    )


def test_does_not_fit() -> None:
    error = does_not_fit(OutOfResources(300_000, 232_448, "shared memory"), "dot")
    assert str(error) == (
        "dot: it needs 300000 of shared memory, but the device has 232448 [TC531]\n"
        "help: make the tiles smaller, or give other num_warps or fewer num_stages"
    )
