"""Hostile launches end in a message, and the process in which they were made goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.checks.hostile import LAUNCHES

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_a_process_survives_them_all(device: str) -> None:
    assert len(LAUNCHES) >= 50
    command = [sys.executable, "-m", "tests.runtime.checks.hostile", device]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = done.stdout.splitlines()
    assert last == "alive", done.stderr
    wanted = [f"{number} {code}" for number, (*_, code) in enumerate(LAUNCHES)]
    assert lines == wanted
