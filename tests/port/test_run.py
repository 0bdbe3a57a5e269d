"""``port --run``: how a program is given, and what its launches add to what was read."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from pytriton.__main__ import main
from pytriton.port.run.observations import Observation, observe

KERNEL = """\
import torch
import triton

src = '''
__global__ void twice(TYPE *X, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  *?(i < n) (X + i) = 2 * *?(i < n) (X + i);
}
'''

def twice(x, size):
    kernel = triton.kernel(src, defines={'TYPE': x.dtype, 'TN': size}, num_warps=[4])
    kernel(x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.d('TN'))])
"""
USE = """\
import torch
import {package}

def test_twice():
    x = torch.ones(10)
    {package}.twice(x, 48)
    assert x.sum() == 20
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "doubling"
    folder.mkdir()
    (folder / "__init__.py").write_text(KERNEL)
    (tmp_path / "test_doubling.py").write_text(USE.format(package="doubling"))
    return folder


@pytest.mark.parametrize(
    "words",
    ["pytest", *(pytest.param(words, marks=pytest.mark.slow) for words in ("python -m pytest", "-m pytest"))],
)
def test_tests_are_run_as_one_types_them(package: Path, words: str) -> None:
    options = "-q -p no:cacheprovider -p no:xdist"
    seen = observe(f"{words} {options} {package.parent / 'test_doubling.py'}", [package])
    assert all(isinstance(observation, Observation) for observation in seen)
    assert [observation.said["defines"] for observation in seen] == [{"TYPE": {"dtype": "float32"}, "TN": 48}]


def test_what_a_run_shows_is_told_and_proved(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = f"pytest -q -p no:cacheprovider -p no:xdist {package.parent / 'test_doubling.py'}"
    assert main(["port", str(package), "--out", str(package.parent / "new"), "--run", program]) == 0
    (line,) = [line for line in capfd.readouterr().out.splitlines() if "twice: " in line]
    assert line.startswith("__init__.py: twice: 4 lines -> ")
    assert "1 observed" in line
    assert "proved by TTIR; " in line
    assert "differ" not in line


def test_a_terminal_shows_what_is_worked_on(package: Path) -> None:
    """On stderr; the lines of the result stand alone on stdout."""
    pytest.importorskip("tqdm")
    (package / "twice.c").write_text(
        "__global__ void fill(float *X) { int i[16] = 0 ... 16; *(X + i) = 1; }\n"
    )
    words = [sys.executable, "-W", "ignore", "-m", "pytriton", "port", "twice.c", "--check"]
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, 100))
    done = subprocess.run(words, cwd=package, stdout=subprocess.PIPE, stderr=theirs, text=True, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    assert "porting:   0%" in shown
    assert "0/1" in shown
    assert "twice.c" in shown
    assert done.stdout.startswith("twice.c: fill: 1 line -> ")
