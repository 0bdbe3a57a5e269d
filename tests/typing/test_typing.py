"""What type checkers find in a user's program: mypy, and pyright where it is installed.

``accepted.py`` has no mistake; ``refused.py`` has one in each line that ends in ``# error``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
FILES = ("accepted.py", "refused.py")


def by_mypy() -> set[tuple[str, int]]:
    """Files and lines of errors. The options are those of ``make check``, which fills the same cache."""
    command = [sys.executable, "-m", "mypy", "--no-error-summary", *(str(HERE / name) for name in FILES)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert printed.returncode in (0, 1), printed.stderr
    errors = re.findall(r"^(?:.*[/\\])?(\w+\.py):(\d+): error:", printed.stdout, re.M)
    return {(name, int(line)) for name, line in errors}


def by_pyright() -> set[tuple[str, int]]:
    program = which("pyright", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip("pyright is not installed")
    options = ["--outputjson", "--pythonpath", sys.executable]
    command = [program, *options, *(str(HERE / name) for name in FILES)]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    errors = [
        item for item in json.loads(printed.stdout)["generalDiagnostics"] if item["severity"] == "error"
    ]
    return {(Path(item["file"]).name, item["range"]["start"]["line"] + 1) for item in errors}


@pytest.mark.parametrize("checker", [by_mypy, by_pyright])
def test_errors(checker: object) -> None:
    lines = (HERE / "refused.py").read_text(encoding="utf-8").splitlines()
    marked = {("refused.py", number) for number, line in enumerate(lines, 1) if line.endswith("# error")}
    assert callable(checker)
    assert checker() == marked
