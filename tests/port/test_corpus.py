"""``port --kernels-only`` on the examples and six old packages: all of it goes through, comments and all."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from tests.processes import python

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ROOT / "tests" / "legacy" / "packages"

SPARSE = {"matmul_kernel", "softmax_fwd", "softmax_bwd"}
KERNELS = {
    PACKAGES / "lean2019": {"dot", "fwdbatchnorm", "bwdbatchnorm", "addbias"},
    PACKAGES / "tutorials2020": {"plus", "product", "conv", "transpose"},
    PACKAGES / "sparse2020": SPARSE | {"to_dense"},
    PACKAGES / "sparse2021": SPARSE | {"to_sparse"},
    PACKAGES / "ops2021": {"product", "scale_columns", "forward", "backward"},
    ROOT / "examples": {
        "blocksparse_matmul_kernel",
        "matmul",
        "permute",
        "attention",
        "conv2d",
        "add",
        "finish",
    },
}

USE = """\
import torch
from contract2020 import einsum

a, b = torch.randn(2, 18, 20, requires_grad=True), torch.randn(2, 20, 17, requires_grad=True)
einsum("bmk,bkn->bmn", a, b).sum().backward()
"""

# Programs that launch what reading does not show.
USES = {
    "examples": """\
import blocksparse_softmax, derived_gradients, permute

for example in (blocksparse_softmax, derived_gradients, permute):
    example.main()
"""
}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """``python -m ...`` there; a process of its own, since ``port`` forks."""
    return python("-m", *command, cwd=folder, PYTHONWARNINGS="ignore")


def ported(folder: Path, path: Path, *more: str) -> dict[str, Any]:
    """The report on a path of which everything can be ported."""
    command = ["pytriton", "port", str(path), "--kernels-only", "--out", "new", "--report", "report.json"]
    done = run(folder, *command, *more)
    assert done.returncode == 0, done.stdout + done.stderr
    data: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert data["sums"]["kernels"]["needs manual work"] == 0
    return data


SLOW = ("examples", "tutorials2020", "sparse2020", "sparse2021", "lean2019", "ops2021")
PATHS = [pytest.param(path, marks=[pytest.mark.slow] * (path.name in SLOW), id=path.name) for path in KERNELS]


@pytest.mark.parametrize("path", PATHS)
def test_everything_is_ported_with_its_comments(path: Path, tmp_path: Path) -> None:
    """No comment is lost: each stands in a kernel of its text, and every line of the report has its opposite."""
    (tmp_path / "use.py").write_text(USES.get(path.name, ""))
    data = ported(tmp_path, path, *(["--run", "use.py"] if path.name in USES else []))
    assert KERNELS[path] <= {one["name"] for one in data["kernels"]}
    assert data["problems"] == []
    for one in data["kernels"]:
        assert not [note for note in one["notes"] if "comments that no ported kernel has" in note["text"]]
        lines = [line.split("//", 1)[1].strip() for line in one["old"].splitlines() if "//" in line]
        news = [other["new"] for other in data["kernels"]]
        assert [line for line in lines if not any(line in new for new in news)] == []


@pytest.mark.slow
def test_a_text_that_only_a_run_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = PACKAGES / "contract2020"
    assert main(["port", str(path), "--kernels-only", "--out", str(tmp_path / "bare")]) == 1
    said = capsys.readouterr().err
    assert "contract.py:40: this source is put together at run time: use --run" in said
    (tmp_path / "use.py").write_text(USE)
    data = ported(tmp_path, path, "--with-tests", "--run", "use.py")
    names = ["contract_bmk_bkn_bmn", "contract_bmk_bmn_bkn", "contract_bmn_bkn_bmk"]
    assert sorted(one["name"] for one in data["kernels"]) == names
    assert all("found by running 'use.py' only" in one["notes"][0]["text"] for one in data["kernels"])
    tests = run(tmp_path, "pytest", "-q", "-p", "no:cacheprovider", "new_comparison")
    assert tests.returncode == 0, tests.stdout


@pytest.mark.slow
@pytest.mark.parametrize("program", ["fails.py", "nowhere.py"])
def test_a_program_that_fails(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "fails.py").write_text("raise SystemExit(3)\n")
    monkeypatch.chdir(tmp_path)
    assert main(["port", str(PACKAGES / "contract2020"), "--run", program]) == 2
    assert f"{program}: the program ended with status" in capfd.readouterr().err
