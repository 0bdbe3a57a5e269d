"""Packages whose texts are easily confused (pairs.py): each call site launches its own kernel once it is ported."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pytriton.__main__ import main
from pytriton.port.package import modules
from pytriton.port.package.launcher import launcher
from tests import processes
from tests.port.pairs import BLOCKED, KERNEL, LAUNCH, Generated, package

GIVEN = os.environ.get("PAIRS", "")  # PAIRS=100:160, with --slow: what test_pairs_are_told_apart tries
SEEDS = range(*map(int, GIVEN.split(":"))) if GIVEN else range(24)

PROGRAM = """\
import torch
from twins import first, second
for function, scale in ((first.run, 2), (second.run, 3)):
    x = torch.arange(-9.0, 12)
    assert torch.equal(function(x), x * scale), (function(x), scale)
"""


def written(made: Generated, folder: Path) -> Path:
    for name, text in made.files.items():
        path = folder / "twins" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = folder / "program.py"
    program.write_text(made.program)
    return program


def ported(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """The exit status, and what is said on stderr beside the progress."""
    capsys.readouterr()
    status = main(["port", str(folder / "twins"), "--out", str(folder / "new"), *options])
    lines = capsys.readouterr().err.splitlines(keepends=True)
    return status, "".join(line for line in lines if not line.startswith("porting "))


def check_ported(folder: Path) -> None:
    """Run the program with the ported package, by Triton alone."""
    (folder / "new" / "pytriton.py").write_text(BLOCKED)
    environment = {**os.environ, "PYTHONPATH": str(folder / "new"), "TRITON_INTERPRET": "1"}
    environment = {name: value for name, value in environment.items() if name != "PYTHONSTARTUP"}
    (folder / "new" / "program.py").write_text((folder / "program.py").read_text())
    command = [sys.executable, "-W", "ignore", str(folder / "new" / "program.py")]
    done = processes.run(command, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_are_told_apart(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every fourth package is run first, under pytriton: there its functions give what the program wants, too."""
    made = package(seed)
    program = written(made, tmp_path)
    status, said = ported(tmp_path, capsys, *(["--run", str(program)] if seed % 4 == 0 else []))
    assert status in (0, 1)
    if status == 1:
        assert said.strip(), made.kinds
    else:
        check_ported(tmp_path)


def by_files(text: str) -> dict[str, str]:
    """Two files of one stem in different folders, and kernels of one name in them."""
    lines = "import os\nimport torch\nimport triton\n" + LAUNCH
    lines += "def run(x):\n    return launch(triton.read(os.path.join(os.path.dirname(__file__), PATH)), x)\n"
    return {
        "__init__.py": "",
        "a/scale.c": text.format(name="scale", scale=2, shift=0),
        "b/scale.c": text.format(name="scale", scale=3, shift=0),
        "first.py": lines.replace("PATH", "'a/scale.c'"),
        "second.py": lines.replace("PATH", "'b', '../b/scale.c'"),
    }


def by_names(text: str) -> dict[str, str]:
    """Two functions of one name in a module, with kernels of one name, beside variables of that name."""
    two, three = (text.format(name="scale", scale=scale, shift=0) for scale in (2, 3))
    lines = f"import torch\nimport triton\n{LAUNCH}SCALE = 2\n"
    lines += f"def run(x):\n    return launch('''{two}''', x)\nrun_first = run\n"
    lines += f"def run(x, SCALE_3=None):\n    return launch('''{three}''', x)\n"
    again = f"import triton\nfrom .both import launch\ndef run(x):\n    return launch('''{two}''', x)\n"
    return {"__init__.py": "", "both.py": lines, "first.py": again, "second.py": "from .both import run\n"}


@pytest.mark.parametrize("files", [by_files, by_names])
def test_equal_names(files: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(files)
    written(Generated(files(KERNEL), PROGRAM, []), tmp_path)
    assert ported(tmp_path, capsys) == (0, "")
    check_ported(tmp_path)


def test_what_is_written_is_launched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher that passes a wrong number is found: its kernel is compared with the source."""

    def wrong(*arguments: Any) -> str:
        return launcher(*arguments).replace("+plain(values[x])", "3 - plain(values[x])")

    monkeypatch.setattr("pytriton.port.package.package.launcher", wrong)
    written(Generated(by_names(KERNEL), PROGRAM, []), tmp_path)
    status, said = ported(tmp_path, capsys)
    assert status == 1
    assert re.findall(r"both.py: (scale_?): what was written differs .* {'TN': 16}: Y\[0\] is ", said) == [
        "scale",
        "scale_",
    ]


@pytest.mark.parametrize("fault", ["digests", "functions", "sources"])
def test_what_is_written_is_checked(
    fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where two sites would get one kernel, the exit status is 1, and the site is named."""
    if fault == "digests":
        monkeypatch.setattr("pytriton.port.package.package.digest", lambda text, kernels=(): "0")
    elif fault == "functions":
        monkeypatch.setattr(modules, "named", lambda text, name: text)
    else:
        monkeypatch.setattr("pytriton.port.package.package._names_in", lambda work, path: set())
    files = by_files(KERNEL) if fault == "digests" else by_names(KERNEL)
    written(Generated(files, PROGRAM, []), tmp_path)
    status, said = ported(tmp_path, capsys)
    assert status == 1
    assert "what was written for this source is wrong with {'TN': 16}: " in said
    assert ("a/scale.c:" if fault == "digests" else "both.py:") in said
