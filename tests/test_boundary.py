"""Tracebacks of a user's mistakes end where the user's code calls; those of our own mistakes have every frame."""

from __future__ import annotations

import pickle
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import pytriton
from pytriton.boundary import TRACEBACK_VARIABLE, entry
from pytriton.errors import CompileError, LaunchError, PytritonError
from pytriton.runtime.errors import refusal
from pytriton.runtime.kernel import Kernel
from tests.processes import python

FILL = "__global__ void fill(float* X, int n) { int i[16] = 0 ... 16; *?(i < n)(X + i) = 1; }"


def fill() -> Kernel:
    return pytriton.kernel(FILL)


MISTAKES: dict[str, Callable[[], object]] = {
    "a text": lambda: pytriton.kernel("void f( {"),
    "a translation": lambda: pytriton.translate("void f( {"),
    "an option": lambda: pytriton.kernel(FILL, cheque=True),
    "too few arguments": lambda: fill()(torch.zeros(16), grid=1),
    "no grid": lambda: fill()(),
    "a grid before": lambda: fill()[1](torch.zeros(16)),
    "a store outside": lambda: fill()(torch.zeros(8), 16, grid=1),
    "bench": lambda: fill()(torch.zeros(8), 16, grid=1, bench=1),
    "asm": lambda: fill().asm("ptx", target="sm_90"),
    "source": lambda: fill().source(kernel="f"),
    "a constant": lambda: fill().set_constant("tab", torch.zeros(1)),
    "a trace": lambda: fill().trace(torch.zeros(16), 16, grid=1, program=(1,)),
    "defines": lambda: fill().source("TILE"),  # type: ignore[arg-type]
    "a gradient": lambda: pytriton.gradient("void f(int* x) { *x = 1; }"),
    "an operator": lambda: pytriton.op("boundary::f")(lambda x: x),
    "an override": lambda: pytriton.override("aten::sin", None),  # type: ignore[arg-type]
    "races": lambda: fill().check_races(torch.zeros(16), 16, grid=0),
}


def raised(mistake: Callable[[], object]) -> PytritonError:
    with pytest.raises(PytritonError) as caught:
        mistake()
    return caught.value


def frames(error: BaseException) -> list[traceback.FrameSummary]:
    """Those that pytest and IPython show, after the one of this file."""
    places = list(traceback.walk_tb(error.__traceback__))
    shown = [frame for frame, _ in places if not frame.f_locals.get("__tracebackhide__")]
    summary = traceback.StackSummary.extract(iter([(frame, frame.f_lineno) for frame in shown]))
    return [frame for frame in summary if frame.filename != __file__]


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_end_in_the_users_frame(name: str) -> None:
    error = raised(MISTAKES[name])
    assert frames(error) == []
    assert (
        len(list(traceback.walk_tb(error.__traceback__))) <= 4
    )  # two of this file, one or two that are hidden
    assert error.__cause__ is None
    assert error.__suppress_context__


@pytest.mark.parametrize("name", ["a text", "too few arguments", "a store outside"])
def test_all_frames_on_request(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRACEBACK_VARIABLE, "full")
    assert len(frames(raised(MISTAKES[name]))) >= 2


def test_the_error_is_the_same_but_for_its_frames() -> None:
    error = raised(MISTAKES["a text"])
    assert isinstance(error, CompileError)
    assert type(error.__context__) is type(error)
    assert str(error) == str(error.__context__)
    assert error.diagnostics[0].code == "TC201"
    assert len(frames(error.__context__)) > 2  # how it was found
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.mark.parametrize("code", ["TC521", "TC530", "TC532"])
def test_our_own_mistakes_are_not_hidden(code: str) -> None:
    def inner() -> None:
        raise refusal("generated code is wrong", code) from ValueError("why")

    error = raised(entry(inner))
    assert isinstance(error.__cause__, ValueError)
    assert traceback.extract_tb(error.__traceback__)[-1].name == "inner"


def test_a_path_that_is_not_there() -> None:
    for take in (pytriton.kernel, pytriton.translate):
        with pytest.raises(FileNotFoundError) as caught:
            take(Path("nowhere.c"))
        assert frames(caught.value) == []


def test_other_errors_pass() -> None:
    def inner() -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError) as caught:
        entry(inner)()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "inner"


def test_what_python_prints(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text("import pytriton\ndef mine():\n    pytriton.translate('void f( {')\nmine()\n")
    ran = python(script)
    places = [line.strip() for line in ran.stderr.splitlines() if line.startswith("  File")]
    assert places == [f'File "{script}", line 4, in <module>', f'File "{script}", line 3, in mine']
    assert "pytriton.errors.ParseError: <kernel>:1:9: error:" in ran.stderr


def test_python_prints_other_errors_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    raised(MISTAKES["a text"])

    def inner() -> None:
        __tracebackhide__ = True
        raise ValueError("mine")

    for kind in (ValueError, LaunchError):
        try:
            inner() if kind is ValueError else entry(lambda: fill()())()
        except (ValueError, LaunchError) as error:
            sys.excepthook(type(error), error, error.__traceback__)
        printed = capsys.readouterr().err
        assert ("in inner" in printed) == (kind is ValueError)
        assert "test_python_prints" in printed
