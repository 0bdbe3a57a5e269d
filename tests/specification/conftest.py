"""Each row of the specification is judged twice: by the module on Triton's interpreter, and by C (with --slow)."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True, params=["module", pytest.param("C", marks=pytest.mark.slow)])
def _runner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs launches on CPU tensors."""
    if request.param == "module":
        monkeypatch.setenv("PYTRITON_CC", "none")
