"""Whole packages, ported by one command: their own tests pass in a process that has no pytriton.

The packages are those of tests/legacy/packages, their own tests those of packages_tests beside them. They run on a
GPU, or where there is none on Triton's own interpreter.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from pytriton.__main__ import main
from tests.processes import python

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests" / "legacy" / "packages"
TESTS = ROOT / "tests" / "legacy" / "packages_tests"

# What Triton's own interpreter computes wrongly, and why; a GPU and pytriton's interpreter do it right.
WRONG_ON_INTERPRETER = {
    "maskedsoftmax2020": {
        "test_dropout[0.75-4294967295]": "a number from 2^31 is int64 to it, though the parameter is uint32",
    },
}

MAX_RATIO = 1.9  # lines of the modules of kernels, what they assert included, for a line of Triton-C
MAX_LAUNCHER = 150  # lines

ALL = sorted(path.name for path in PACKAGES.iterdir() if (path / "__init__.py").exists())


def ported(name: str, out: Path, run: bool = True) -> Path:
    """The ported package, by the command that a user types."""
    program = f"-m pytest -q -p no:cacheprovider {TESTS / f'test_{name}.py'}"
    command = ["port", str(PACKAGES / name), "--out", str(out), *(["--run", program] if run else [])]
    assert main(command) == 0
    return out / name


def own_tests(name: str, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the package's own tests where ``import pytriton`` fails."""
    blocked = out / "blocked"
    blocked.mkdir(exist_ok=True)
    (blocked / "pytriton.py").write_text('raise ImportError("pytriton is not here")\n')
    environment = {**os.environ, "PYTHONPATH": f"{blocked}{os.pathsep}{out}"}
    if not torch.cuda.is_available():
        environment["TRITON_INTERPRET"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"test_{name}.py", *options]
    return subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_own_tests_pass_without_pytriton(name: str, tmp_path: Path) -> None:
    package = ported(name, tmp_path)
    wrong = {} if torch.cuda.is_available() else WRONG_ON_INTERPRETER.get(name, {})
    others = [f"--deselect=test_{name}.py::{case}" for case in wrong]
    done = own_tests(name, tmp_path, *others)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    for case in wrong:
        assert own_tests(name, tmp_path, f"test_{name}.py::{case}").returncode == 1
    texts = [path for path in package.rglob("*") if path.suffix in (".c", ".tr")]
    assert texts == []
    assert not any("pytriton" in path.read_text() for path in package.rglob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_printed_modules_are_formatted_and_unchanged_files_the_same(name: str, tmp_path: Path) -> None:
    package = ported(name, tmp_path, run=name in ("contract2020", "layers2021"))
    printed = [*package.glob("_t*.py"), *(package / "kernels").glob("*.py")]
    done = python("-m", "ruff", "format", "--isolated", "--line-length=120", "--check", *printed)
    assert done.returncode == 0, done.stdout
    assert [line for path in printed for line in path.read_text().splitlines() if len(line) > 120] == []
    before = {path: path.read_bytes() for path in package.rglob("*.py")}
    ported(name, tmp_path, run=name in ("contract2020", "layers2021"))  # by the same command
    assert {path: path.read_bytes() for path in package.rglob("*.py")} == before


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="the own tests themselves run there")
@pytest.mark.parametrize("name", ALL)
def test_what_is_launched_on_a_gpu_is_served(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A port that saw small sizes on the CPU has kernels for the larger ones; they compile for sm_90 (on_gpu/)."""
    ported(name, tmp_path)
    said = capsys.readouterr().out.splitlines()[-1]
    old, new, launcher = map(
        int, re.findall(r"(\d+) lines? of Triton-C -> (\d+) of Python, (\d+) of", said)[0]
    )
    assert new <= MAX_RATIO * old
    assert launcher <= MAX_LAUNCHER
    file, plugin = tmp_path / "refused.json", Path(__file__).parent / "on_gpu"
    environment = {**os.environ, "REFUSED": str(file), "PYTHONPATH": f"{plugin}{os.pathsep}{tmp_path}"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "gpu_sizes",
        f"test_{name}.py",
    ]
    subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, check=False)
    assert json.loads(file.read_text()) == []
