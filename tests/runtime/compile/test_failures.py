"""When Triton refuses generated code: its words, the generated file, and the line of the source."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from triton.runtime.errors import InterpreterError, OutOfResources

import pytriton
from pytriton.emit.printer import printed
from pytriton.emit.python import FunctionParameter, KernelFunction, Simple
from pytriton.errors import CompileError, UnsupportedError
from pytriton.runtime.compile.compiler import compile_kernel, parse_target
from pytriton.runtime.compile.failures import Complaint, Generated, does_not_fit, understood
from pytriton.runtime.compile.load import load
from pytriton.runtime.interpret.interpreter import Interpreted
from pytriton.runtime.options.defines import Config
from pytriton.source import Source
from tests.runtime.kernels import handmade

SOURCE = Source("void f(float* x) {\n  *x = 1;\n  *x = *x @ *x;\n}\n", "f.c")
LINES = {6: 1, 7: 2, 8: 3}
HELP = "help: report this with the source: pytriton should refuse the source or translate it differently"


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
    tree = KernelFunction("f", (), (FunctionParameter("n", ""),), (Simple("tl.store(n, 1.0)", None, 2),), 1)
    text, lines = printed(tree)
    translation = replace(handmade(text, "int n", lines=lines), tree=tree)
    with pytest.raises(UnsupportedError, match=r"^f\.c:2:3: error: Triton refuses"):
        compile_kernel(translation, (2,), Config(), parse_target("cuda:90"), SOURCE)


PACKED = """@triton.jit
def f(x):
    r = tl.arange(0, 16)
    tl.store(
        x + r, tl.inline_asm_elementwise("", "=r,r", [tl.load(x + r)], tl.float32, is_pure=True, pack=3)
    )
"""


@pytest.fixture
def _no_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a module through that only a test would write."""
    monkeypatch.setattr("pytriton.runtime.compile.load.check_module", lambda *_: None)


@pytest.mark.usefixtures("_no_gate")
def test_what_mlir_prints() -> None:
    """An error without words: they went to standard error, with the line of the module."""
    translation = handmade(PACKED, "float* x", lines={6: 1, 7: 2, 8: 3, 9: 3})
    with pytest.raises(UnsupportedError) as caught:
        compile_kernel(translation, (1,), Config(), parse_target("cuda:90"), SOURCE)
    lines = str(caught.value).split("\n")
    assert lines[0] == (
        "f.c:3:3: error: Triton refuses the generated code: number of input elements 16 "
        "must be a multiple of the op's packed_element attribute, 3 [TC530]"
    )
    assert lines[1:3] == ["    3 |   *x = *x @ *x;", "      |   ^~~~~~~~~~~~~"]
    assert lines[-2:] == [f"note: the generated code is {load('f', translation.text).path}:9", HELP]


FAILED_PASS = """python: SmallVector.h:293: reference operator[](size_type): Assertion `idx < size()' failed.
module {
  tt.func public @f(%x: !tt.ptr<f32>) { tt.return }
}
m.py:7:0: error: Failures have been detected while processing an MLIR pass pipeline
m.py:7:0: note: Pipeline failed while executing [`TritonGPUCoalesce` on 'builtin.module' operation]: reproducer
"""


def test_a_pass_of_mlir_without_a_line() -> None:
    heard = understood(FAILED_PASS, Path("m.py"))
    assert heard is not None
    assert heard.line is None
    source = Source("// a kernel\n__global__ void f(float* x) {\n  *x = 1;\n}\n", "f.c")
    error = Generated(pytriton.translate(source), Path("m.py"), source).refused(
        RuntimeError("PassManager::run failed"), heard
    )
    assert str(error) == (
        "f.c:2:1: error: Triton refuses the generated code of f: its pass TritonGPUCoalesce fails: "
        "Assertion `idx < size()' failed [TC530]\n"
        "    2 | __global__ void f(float* x) {\n"
        "      | ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "note: the generated code is m.py\n"
        f"{HELP}"
    )


def test_other_words_on_standard_error() -> None:
    """Errors of other files, warnings, and nothing at all are no complaint."""
    printed = "other.py:3:1: error: not ours\nm.py:4:2: warning: slow\nhello\n"
    assert understood(printed, Path("m.py")) is None
    for place in ('loc("m.py":4:2)', 'loc("value"("m.py":4:2))', '"m.py":4:2', "m.py:4:2"):
        assert understood(f"{place}: error: bad\n", Path("m.py")) == Complaint("bad", 4)


@pytest.mark.usefixtures("_no_gate")
def test_the_process_hears_nothing_of_others(capfd: pytest.CaptureFixture[str]) -> None:
    """What other threads print while MLIR is heard stays where it was printed."""
    translation = handmade(PACKED, "float* x", lines=LINES)
    stop = threading.Event()
    written = 0

    def chatter() -> None:
        nonlocal written
        while not stop.is_set() or written <= 20:
            os.write(2, b"ours:7:1: error: no\n")
            written += 1
            stop.wait(0.01)

    thread = threading.Thread(target=chatter)
    thread.start()
    try:
        with pytest.raises(UnsupportedError, match="packed_element attribute, 3"):
            compile_kernel(translation, (1,), Config(), parse_target("cuda:90"), SOURCE)
    finally:
        stop.set()
        thread.join()
    assert capfd.readouterr().err.count("ours:7:1: error: no\n") == written > 20


NEVER_ENTERED = """void f(float *X, int n) {
  int r[16] = 0 ... 16;
  int i = 1;
  while (i < n) {
    *(X + r) = i;
    i *= 2;
  }
}
"""


def test_a_loop_that_a_one_leaves_out() -> None:
    """With ``n`` compiled as the constant 1, Triton 3.6 fails: then it is compiled as any integer."""
    translation = pytriton.translate(NEVER_ENTERED)
    target = parse_target("cuda:90")
    assert compile_kernel(translation, (1, 2), Config(), target, Source(NEVER_ENTERED, "f.c"))


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
        "f.c: error: Triton refuses the generated code of f: RuntimeError: PTX is bad [TC530]\n"
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
