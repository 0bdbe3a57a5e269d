"""With --slow each row of the specification is judged twice: by the module on Triton's interpreter, and by C."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def runner(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs launches on CPU tensors."""
    if getattr(request, "param", "module") == "module":
        monkeypatch.setenv("PYTRITON_CC", "none")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if metafunc.config.getoption("--slow"):
        runners = ["module", pytest.param("C", marks=pytest.mark.slow)]
        metafunc.parametrize("runner", runners, indirect=True)
