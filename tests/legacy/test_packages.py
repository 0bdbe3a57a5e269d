"""The packages of 2019 to 2021 pass their own tests, unmodified, under ``pytriton run --legacy``.

The tests in ``packages_tests`` are a project of their own: they run in a child process, on the CPU at small sizes
and, where there is a GPU, at larger ones. What stands here beside them is about pytriton, not about the packages.
"""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.legacy.modules import NAMES, PACKAGES, package
from tests.together import in_threads

ROOT = Path(__file__).parents[2]
OWN_TESTS = PACKAGES.with_name("packages_tests")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in NAMES])
def test_own_tests_pass(device: str, name: str) -> None:
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(PACKAGES), *given])}
    environment.pop("PYTEST_ADDOPTS", None)
    if device == "cpu":
        environment["CUDA_VISIBLE_DEVICES"] = ""
    own = ["pytest", "-q", "-p", "no:xdist", str(OWN_TESTS / f"test_{name}.py")]
    command = [sys.executable, "-m", "pytriton", "run", "--legacy", name, "-m", *own]
    done = subprocess.run(
        command, cwd=OWN_TESTS, env=environment, capture_output=True, text=True, timeout=500
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    counts = done.stdout.splitlines()[-1]
    assert re.match(r"\d+ passed", counts), counts
    assert not re.search("skipped|xfailed|deselected", counts), counts


def test_own_tests_know_nothing_of_pytriton() -> None:
    """They import torch, pytest, their package, each other and the standard library."""
    files = sorted(OWN_TESTS.glob("*.py"))
    assert {file.stem for file in files} >= {f"test_{name}" for name in NAMES}
    allowed = {*sys.stdlib_module_names, *(file.stem for file in files), "torch", "pytest"}
    for file in files:
        names = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names.add((node.module or "").partition(".")[0])
        assert names - allowed <= {file.stem.removeprefix("test_")}, file


@pytest.mark.parametrize("name", ["sparse2020", "sparse2021"])
def test_sparse_kernels_in_threads(name: str) -> None:
    """Several threads ask for the same kernels at once: all are served, and nothing is made twice."""
    if name == "sparse2021" and torch.cuda.is_available():
        pytest.skip("the package uses the CUDA device of this machine")
    torch.manual_seed(0)
    attention = package(name).Attention(torch.ones(1, 1, 3, dtype=torch.int64), 16)
    q, k = torch.randn(4, 1, 1, 16, 16), torch.randn(4, 1, 1, 48, 16)
    found: dict[int, torch.Tensor] = {}

    def work(index: int) -> None:
        found[index] = attention(q[index], k[index], k[index])

    in_threads(work, range(4))
    for index in range(4):
        wanted = torch.softmax(q[index] @ k[index].transpose(2, 3) / 4, dim=-1) @ k[index]
        torch.testing.assert_close(found[index], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_as_the_docs_run_it() -> None:
    """The command of docs/legacy.md, from the root of a checkout."""
    text = (ROOT / "docs" / "legacy.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\$ (PYTHONPATH=.*)$", text, re.MULTILINE)
    paths, program, *arguments = shlex.split(shown)
    assert program == "pytriton"
    environment = {**os.environ, "PYTHONPATH": paths.removeprefix("PYTHONPATH=")}
    command = [sys.executable, "-m", program, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^(\S+):$", done.stdout, re.MULTILINE) == ["matmul-nn", "matmul-nt", "softmax"]
