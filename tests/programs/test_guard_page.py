"""The dead load at the end of the classic loop must not happen (docs/language.md, Statements).

Operands end against a page that may not be read, in a process of its own: guarded.py says how.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import python

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mprotect as on Linux")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """guarded.py in a fresh process."""
    return python(Path(__file__).with_name("guarded.py"), *arguments)


@pytest.mark.slow
def test_nothing_past_the_operands_is_read() -> None:
    """In all transpositions; the last one that is printed came before the one that ended the process."""
    done = run("00", "01", "10", "11")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "00 right\n01 right\n10 right\n11 right\n"


@pytest.mark.slow
def test_the_wall_stands() -> None:
    assert run("touch").returncode == -signal.SIGSEGV
