"""Hostile launches end in a message, and the process in which they were made goes on."""

from __future__ import annotations

from tests.processes import python
from tests.runtime.checks.hostile import LAUNCHES


def test_a_process_survives_them_all(device: str) -> None:
    assert len(LAUNCHES) >= 50
    done = python("-m", "tests.runtime.checks.hostile", device)
    assert done.returncode == 0, done.stdout + done.stderr
    *lines, last = done.stdout.splitlines()
    assert last == "alive", done.stderr
    wanted = [f"{number} {code}" for number, (*_, code) in enumerate(LAUNCHES)]
    assert lines == wanted
