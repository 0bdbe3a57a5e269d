"""``docs/porting.md`` to the letter: its files are written and its commands run, in order, in a fresh directory.

Commands whose output the page shows must print it; a block of ``text`` below commands shows some of the lines of
what the last one printed, ``...`` stands for the others.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.test_walks import shell

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "porting.md"

STEP = re.compile(
    r"(?:<!-- file: (?P<name>\S+) -->\n)?```(?P<kind>console|python|text)\n(?P<text>.*?)```", re.DOTALL
)
STATUS = {"pytriton port contract2020 --out contractions": 1}


@pytest.mark.slow
def test_the_walk(tmp_path: Path) -> None:
    environment = {**shell(tmp_path / "bin"), "PYTRITON": str(ROOT)}
    folder = tmp_path / "walk"
    folder.mkdir()
    ran = 0
    printed = ""
    for step in STEP.finditer(PAGE.read_text(encoding="utf-8")):
        if step["kind"] == "python":
            (folder / step["name"]).write_text(step["text"])
            continue
        if step["kind"] == "text":
            lines = [line for line in step["text"].splitlines() if line != "..."]
            assert [line for line in printed.splitlines() if line in lines] == lines
            continue
        for command, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).+\n)*)", step["text"], re.MULTILINE):
            ran += 1
            done = subprocess.run(
                command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
            )
            assert done.returncode == STATUS.get(command, 0), f"{command}\n{done.stdout}\n{done.stderr}"
            printed = done.stdout
            if shown:
                assert printed == shown
    assert ran == 27
