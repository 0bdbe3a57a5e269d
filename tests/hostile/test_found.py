"""What ``tests.hostile.guided`` found, cut down: each raised something other than a ``CompileError``."""

from __future__ import annotations

import pytest

from tests.hostile.attempts import attempt

FOUND = {
    "a head of an if outside of all functions": "enum { A {};\nvoid f(float(float) *X) {\n  *X = 1;\n}\n",
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str) -> None:
    attempt(FOUND[name])
