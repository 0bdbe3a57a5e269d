"""Errors and warnings have codes: all that are raised, and all that are warned of."""

from __future__ import annotations

import ast
import logging
import pickle
import warnings
from pathlib import Path

import pytest
import torch

import pytriton
from pytriton.errors import Diagnostic

PACKAGE = Path(pytriton.__file__).parent
SOURCE = "__global__ void fill(float *x, int n) { *?(0 ... 16 < n) (x + 0 ... 16) = 1; }"


def test_errors_of_calls() -> None:
    kernel = pytriton.kernel(SOURCE)
    with pytest.raises(pytriton.LaunchError) as caught:
        kernel(torch.zeros(16), grid=(1,))
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        (finding,) = error.diagnostics
        assert isinstance(finding, Diagnostic)
        assert (error.code, finding.code, finding.where) == ("TC501", "TC501", None)
        assert str(error) == str(finding)
    with pytest.raises(pytriton.LaunchError) as caught:
        kernel(torch.zeros(8), 16, grid=(1,))
    assert caught.value.code == "TC550"
    assert [finding.where.line for finding in caught.value.diagnostics] == [1]


def test_errors_of_all_kinds() -> None:
    with pytest.raises(pytriton.CheckError) as caught:
        pytriton.translate(SOURCE.replace("= 1", "= y"))
    assert caught.value.code == caught.value.diagnostics[0].code == "TC301"
    with pytest.raises(pytriton.UnknownDefineError, match=r"\[TC514\]") as unknown:
        pytriton.kernel(SOURCE)(torch.zeros(16), 16, grid=lambda opt: opt.TILE)
    assert unknown.value.code == "TC514"
    with pytest.raises(pytriton.LaunchError) as caught_text:
        pytriton.translate(3)  # type: ignore[arg-type]
    assert caught_text.value.code == "TC515"
    assert pytriton.LaunchError("of a user").code == ""


def test_warnings() -> None:
    kernel = pytriton.kernel(SOURCE)
    with pytest.warns(pytriton.PytritonWarning, match=r"\[TC528\]") as caught:
        kernel(torch.zeros(16), 16, grid=(1,), num_warp=4)
    (warning,) = (item.message for item in caught if item.category is pytriton.PytritonWarning)
    assert isinstance(warning, RuntimeWarning)
    assert warning.code == "TC528"
    assert pickle.loads(pickle.dumps(warning)).code == "TC528"
    with warnings.catch_warnings(action="error"), pytest.raises(pytriton.PytritonWarning):
        pytriton.kernel(SOURCE)(torch.zeros(16), 16, grid=(1,), num_warp=4)


def test_all_raise_and_warn_with_codes() -> None:
    """No file calls ``warnings.warn``, or makes an error of a text alone."""
    coded = {"LaunchError", "TuneError", "PytritonWarning"}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called != "warnings.warn", path
                assert called not in coded or len(node.args) == 2, (path, node.lineno)
    names = {path.name for path in PACKAGE.rglob("*.py") if "getLogger(" in path.read_text(encoding="utf-8")}
    assert names == {"errors.py"}


def test_logger(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "pytriton"):
        pytriton.kernel(SOURCE).asm("ttir", target="cuda:90")
    assert [record.name for record in caplog.records] == ["pytriton"]
    assert "fill: Config(num_warps=4) is compiled for" in caplog.text


@pytest.mark.parametrize("name", ["jit", "language", "autotune", "Config"])
def test_names_of_triton(name: str) -> None:
    with pytest.raises(AttributeError, match=rf"no attribute '{name}': .*pytriton\.(kernel|config)"):
        getattr(pytriton, name)


def test_only_documented_names_are_listed() -> None:
    assert dir(pytriton) == sorted(pytriton.__all__)
    public = {name for name in dir(pytriton.kernel(SOURCE)) if not name.startswith("_")}
    told = (PACKAGE.parent / "docs" / "api.md").read_text(encoding="utf-8")
    assert {name for name in public if name not in told} <= {"checked", "name", "token", "traced_plan"}
