"""What the tests of old programs share: silence about the interpreter, a directory to import from."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytriton.legacy import imports

collect_ignore = ["packages", "packages_tests"]  # test_packages.py runs what is in them


@pytest.fixture(autouse=True)
def _no_notice() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pytriton runs kernels on CPU tensors")
        yield


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory on the path; what was imported from it, and who was named, is forgotten afterwards."""
    monkeypatch.syspath_prepend(tmp_path)
    before, active = set(sys.modules), list(imports._active)
    yield tmp_path
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)) or not file:
            del sys.modules[name]
    imports._active[:] = active
