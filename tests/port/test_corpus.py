"""``port`` on a real corpus: the examples and the six old packages. All of it goes through, comments and all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ROOT / "tests" / "legacy" / "packages"

USE = """\
import torch
from contract2020 import einsum

a, b = torch.randn(2, 18, 20, requires_grad=True), torch.randn(2, 20, 17, requires_grad=True)
einsum("bmk,bkn->bmn", a, b).sum().backward()
"""


def ported(folder: Path, path: Path, *more: str) -> dict[str, Any]:
    """The report on a path of which everything can be ported."""
    report = folder / "report.json"
    command = ["port", str(path), "--out", str(folder / "new"), "--report", str(report), *more]
    assert main(command) == 0
    data: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    assert data["sums"]["kernels"]["needs a person"] == 0
    return data


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The reports on the examples and on the packages that can be read to the end."""
    paths = [
        ROOT / "examples",
        *(path for path in sorted(PACKAGES.iterdir()) if (path / "__init__.py").exists()),
    ]
    return {
        path.name: ported(tmp_path_factory.mktemp(path.name), path)
        for path in paths
        if path.name != "contract2020"
    }


def test_every_mode_of_every_package_is_ported(corpus: dict[str, dict[str, Any]]) -> None:
    kernels = {name: {one["kernel"] for one in data["kernels"]} for name, data in corpus.items()}
    assert set(kernels) == {"examples", "lean2019", "ops2021", "sparse2020", "sparse2021", "tutorials2020"}
    for name in ("sparse2020", "sparse2021"):
        assert kernels[name] == {"sdd_kernel", "dsd_kernel", "dds_kernel", "softmax_fwd", "softmax_bwd"}
    forms = {f"{mode}_{at}{bt}" for mode in ("sdd", "dsd") for at in "nt" for bt in "nt"} | {"dds_tn"}
    assert forms <= kernels["examples"]
    assert "permute" in kernels["examples"]


def test_comments_survive(corpus: dict[str, dict[str, Any]]) -> None:
    """At the statement that they explain; and none is lost."""
    counts = [data["sums"]["comments"] for data in corpus.values()]
    every = sum(one["in ported kernels"] for one in counts)
    assert every > 200
    assert sum(one["at their statement"] for one in counts) >= 0.95 * every
    for data in corpus.values():
        for one in data["kernels"]:
            said = one["new"].replace("*", "")
            lines = [line.split("//", 1)[1].strip() for line in one["old"].splitlines() if "//" in line]
            others = "".join(other["new"] for other in data["kernels"] if other["old"] == one["old"])
            assert [line for line in lines if line not in said and line not in others] == []


def test_a_text_that_only_a_run_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = PACKAGES / "contract2020"
    assert main(["port", str(path), "--out", "bare"]) == 1
    Path("use.py").write_text(USE)
    data = ported(tmp_path, path, "--with-tests", "--run", "use.py")
    names = ["contract_bmk_bkn_bmn", "contract_bmk_bmn_bkn", "contract_bmn_bkn_bmk"]
    assert sorted(one["kernel"] for one in data["kernels"]) == names
    assert all("'use.py' gave" in one["reasons"][0]["text"] for one in data["kernels"])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "new"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "HOME": str(tmp_path)}
    )
    assert done.returncode == 0, done.stdout
    assert "24 passed" in done.stdout


@pytest.mark.parametrize("program", ["fails.py", "nowhere.py"])
def test_a_program_that_fails(
    tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fails.py").write_text("raise SystemExit(3)\n")
    assert main(["port", str(PACKAGES / "contract2020"), "--run", program]) == 2
    assert f"{program}: the program ended with status" in capfd.readouterr().err
