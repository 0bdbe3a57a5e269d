"""The walkthroughs, docs/walk-*.md: their files are written and their commands run, in order, in a fresh directory.

A block below ``<!-- norm.c -->`` is that file, below ``<!-- norm.c:8 -->`` its line 8. A command must print what
stands below it; a line ``...`` stands for any lines, ``...`` in a line for any part of it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WALKS = sorted((ROOT / "docs").glob("walk-*.md"))
STEP = re.compile(
    r"(?:<!-- (?P<file>[\w./]+)(?::(?P<line>\d+))? -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)^```", re.S | re.M
)


def shell(folder: Path) -> dict[str, str]:
    """An environment in which ``python`` and ``pytriton`` are those of this run, the latter as pip writes it."""
    folder.mkdir()
    (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    script = "import sys\nfrom pytriton.__main__ import main\nsys.exit(main())\n"
    (folder / "pytriton").write_text(f"#!{sys.executable}\n{script}")
    for program in folder.iterdir():
        program.chmod(0o755)
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    python = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": python, "PYTHONWARNINGS": "ignore"}


def matches(shown: str, printed: str) -> bool:
    pattern = re.sub(r"(?m)^\\\.\\\.\\\.\n", r"(?:.*\n)*", re.escape(shown).replace("\\\n", "\n"))
    return re.fullmatch(pattern.replace(r"\.\.\.", ".*"), printed) is not None


@pytest.mark.slow  # many processes, each of which imports torch
@pytest.mark.parametrize("page", WALKS, ids=lambda path: path.stem)
def test_walk(page: Path, tmp_path: Path) -> None:
    environment = shell(tmp_path / "bin")
    folder = tmp_path / "walk"
    folder.mkdir()
    ran = 0
    for step in STEP.finditer(page.read_text(encoding="utf-8")):
        if step["file"]:
            path = folder / step["file"]
            path.parent.mkdir(exist_ok=True)
            lines = path.read_text().splitlines(keepends=True) if step["line"] else [""]
            lines[int(step["line"] or 1) - 1] = step["text"]
            path.write_text("".join(lines))
            continue
        assert step["kind"] == "console"
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", step["text"], re.MULTILINE):
            printed = subprocess.run(
                f"{command} 2>&1",
                shell=True,
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                text=True,
                timeout=300,
            ).stdout
            assert matches(shown, printed), f"{command}\n{printed}"
            ran += 1
    assert ran >= 4


def test_there_are_three() -> None:
    assert len(WALKS) == 3
