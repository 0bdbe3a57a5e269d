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
from pytriton.port.run.observations import Observation, ProgramError, _command, observe

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


COMMANDS = [
    ("pytest -q", {}, [], ["-m", "pytest", "-q"]),
    ("/opt/bin/pytest -q", {}, [], ["-m", "pytest", "-q"]),
    ("python -m pytest -q", {}, [], ["-m", "pytest", "-q"]),
    ("python3 -m pytest", {}, [], ["-m", "pytest"]),
    ("/opt/env/bin/python3.12 -m pytest", {}, [], ["-m", "pytest"]),
    ("python -u -W a -X dev -mpytest -W a", {}, ["-u", "-W", "a", "-X", "dev"], ["-m", "pytest", "-W", "a"]),
    ("env X=1 'Y=a b' python use.py -m", {"X": "1", "Y": "a b"}, [], ["use.py", "-m"]),
    ("X=1 use.py", {"X": "1"}, [], ["use.py"]),
    ("python -c 'import a'", {}, [], ["-c", "import a"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "environment", "flags", "words"), COMMANDS)
def test_commands(program: str, environment: dict[str, str], flags: list[str], words: list[str]) -> None:
    assert _command(program) == (environment, flags, words)


@pytest.mark.parametrize("program", ["cd tests && pytest", "ls -l", "python", "env X=1"])
def test_what_is_no_python_program(program: str) -> None:
    with pytest.raises(ProgramError, match=r"is not a Python program|names no program"):
        _command(program)


@pytest.mark.slow
def test_code_of_a_command(package: Path) -> None:
    code = "import os, torch, doubling; doubling.twice(torch.ones(4), int(os.environ['SIZE']))"
    ((seen,), _) = observe(f'SIZE=64 {sys.executable} -W ignore -c "{code}"', [package])
    assert seen.options["defines"] == {"TYPE": {"dtype": "float32"}, "TN": 64}


@pytest.mark.parametrize(
    "words",
    ["pytest", *(pytest.param(words, marks=pytest.mark.slow) for words in ("python -m pytest", "-m pytest"))],
)
def test_tests_are_run_as_one_types_them(package: Path, words: str) -> None:
    options = "-q -p no:cacheprovider -p no:xdist"
    seen, status = observe(f"{words} {options} {package.parent / 'test_doubling.py'}", [package])
    assert status == 0
    assert all(isinstance(observation, Observation) for observation in seen)
    assert [observation.options["defines"] for observation in seen] == [
        {"TYPE": {"dtype": "float32"}, "TN": 48}
    ]


@pytest.mark.slow
def test_what_a_run_shows_is_told_and_proved(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = f"pytest -q -p no:cacheprovider -p no:xdist {package.parent / 'test_doubling.py'}"
    assert main(["port", str(package), "--out", str(package.parent / "new"), "--run", program]) == 0
    (line,) = [line for line in capfd.readouterr().out.splitlines() if "twice: " in line]
    assert line.startswith("__init__.py: twice: 4 lines -> ")
    assert "1 observed" in line
    assert "proved by TTIR" in line
    assert "differ" not in line


def test_a_run_that_fails_ports_what_it_launched(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    use = package.parent / "use.py"
    use.write_text("import doubling, sys, torch\ndoubling.twice(torch.ones(10), 48)\nsys.exit(3)\n")
    report = package.parent / "report.json"
    command = ["port", str(package), "--out", str(package.parent / "new"), "--report", str(report)]
    assert main([*command, "--run", str(use)]) == 1
    said = capfd.readouterr()
    assert f"{use}: the program ended with status 3; what it launched before is ported" in said.err
    assert "1 observed" in said.out
    assert "ended with status 3" in report.read_text()
    assert (package.parent / "new/doubling/__init__.py").exists()


@pytest.mark.slow
def test_sources_that_only_a_run_shows(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Their define sets are those of the run, and of -D."""
    code = KERNEL.replace("void twice(", "void {name}(").replace(
        "triton.kernel(src,", "triton.kernel(made(),"
    )
    code = (
        code.replace("{name}", "NAME") + "\ndef made():\n    return src.replace('NAME', os.environ['NAME'])\n"
    )
    (package / "__init__.py").write_text("import os\n" + code)
    run = f"NAME=thrice pytest -q -p no:cacheprovider -p no:xdist {package.parent / 'test_doubling.py'}"
    assert (
        main(["port", str(package), "--out", str(package.parent / "new"), "-D", "TN=64", "--run", run]) == 0
    )
    lines = capfd.readouterr().out.splitlines()
    (line,) = [line for line in lines if "thrice: " in line]
    assert "(1 read, 1 observed, " in line
    assert any("the source was found by running" in line for line in lines)


@pytest.mark.slow
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
