"""``port --run``: how a program is given, and what its launches add to what was read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytriton.__main__ import main
from pytriton.port.run.observations import Observation, ProgramError, observe

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


USES = "import sys, torch, doubling; doubling.twice(torch.ones(4), int(sys.argv[1]))"


@pytest.mark.parametrize(
    "command",
    [
        "python use.py 64",
        "use.py 64",
        "SIZE=64 PYTHONWARNINGS=ignore ./use.py 64",
        "env X=1 'Y=a b' python use.py 64 -m",
        f'SIZE=64 {sys.executable} -W ignore -c "{USES}" 64',
        "cd / && python -m use 64 | cat",
        """python -c "import subprocess; subprocess.run(['python', 'use.py', '64'])\"""",
    ],
)  # fmt: skip
def test_a_command_is_run_as_one_types_it(
    command: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (package.parent / "use.py").write_text(USES)
    monkeypatch.chdir(package.parent)
    ((seen,), status) = observe(command, [package])
    assert status == 0
    assert seen.options["defines"] == {"TYPE": {"dtype": "float32"}, "TN": 64}
    assert (seen.file, seen.line) == (package / "__init__.py", 12)


def test_each_process_is_seen_and_each_launch_once(package: Path) -> None:
    run = f'python -c "{USES}"'
    seen, _ = observe(f"{run} 64 & {run} 32; wait; {run} 64", [package])
    assert sorted(observation.options["defines"]["TN"] for observation in seen) == [32, 64]


def test_a_script_of_the_package_has_the_old_triton(package: Path) -> None:
    (package / "bench.py").write_text(KERNEL + "\n\ntwice(torch.ones(4), 16)\n")
    ((seen,), _) = observe(f"python {package / 'bench.py'}", [package])
    assert seen.file == package / "bench.py"


@pytest.mark.parametrize("program", ["ls -l", "python -c 1", "no-such-command"])
def test_what_launches_nothing_is_told(program: str, package: Path) -> None:
    with pytest.raises(ProgramError, match=rf"{program}: .*launched no kernel"):
        observe(program, [package])


@pytest.mark.parametrize(
    "words",
    ["pytest", pytest.param("-m pytest", marks=pytest.mark.slow)],
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


BOUNDED = """\
import torch
import triton

src = '''
__global__ void bounded(TYPE *X, int n) {
  int i[TN] = get_program_id(0) * TN + 0 ... TN;
  TYPE x[TN] = *?(i < n) (X + i);
#ifdef TWICE
  x = x + x;
#endif
  *?(i < n) (X + i) = x < MOST ? x : MOST;
}
'''

def bounded(x, size, twice=False):
    defines = {'TYPE': x.dtype, 'TN': size, 'MOST': {torch.float32: '9.f', torch.float16: '(half)8'}[x.dtype]}
    if twice:
        defines['TWICE'] = True
    kernel = triton.kernel(src, defines=defines, num_warps=4)
    kernel(x, x.numel(), grid=lambda opt: [triton.cdiv(x.numel(), opt.TN)])
"""


def test_a_run_does_not_hide_what_was_read(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A type and a flag that no launch of the run had, at the size that only the run knows."""
    (package / "__init__.py").write_text(BOUNDED)
    run = 'python -c "import torch, doubling; doubling.bounded(torch.ones(4), 64)"'
    assert main(["port", str(package), "--out", str(package.parent / "new"), "--run", run]) == 0
    (line,) = [line for line in capfd.readouterr().out.splitlines() if "bounded: " in line]
    assert "(8 read, 1 observed" in line
    text = (package.parent / "new/doubling/kernels/doubling.py").read_text()
    assert 'MOST == "9.f" and X.dtype.element_ty == tl.float32' in text


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


def test_what_is_worked_on_is_shown(package: Path) -> None:
    """On stderr, also where that is no terminal; the lines of the result stand alone on stdout."""
    (package / "twice.c").write_text(
        "__global__ void fill(float *X) { int i[16] = 0 ... 16; *(X + i) = 1; }\n"
    )
    words = [sys.executable, "-W", "ignore", "-m", "pytriton", "port", "twice.c", "--check"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTRITON_PROGRESS"}
    done = subprocess.run(words, cwd=package, capture_output=True, text=True, env=environment)
    assert done.stderr.startswith("porting twice.c (1 of 1)\n")
    assert done.stdout.startswith("twice.c: fill: 1 line -> ")
