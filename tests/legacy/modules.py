"""Modules for tests: those written by a test, and the packages of old programs as these get them."""

from __future__ import annotations

import importlib
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

import pytriton

__all__ = ["NAMES", "PACKAGES", "large", "needs_cpu_only", "package", "real_triton", "write"]

PACKAGES = Path(__file__).parent / "packages"
NAMES = (
    "lean2019",
    "contract2020",
    "tutorials2020",
    "sparse2020",
    "sparse2021",
    "ops2021",
    "blocksparse2020",
    "maskedsoftmax2020",
    "sparseconv2021",
    "layers2021",
)


def package(name: str) -> types.ModuleType:
    """One of the packages as an old program gets it."""
    if name in sys.modules:
        return sys.modules[name]
    # two packages import sparse_tables.py, which is next to their tests
    folders = [str(PACKAGES), str(PACKAGES.with_name("packages_tests"))]
    sys.path[:0] = folders
    try:
        with pytriton.legacy_imports(name):
            return importlib.import_module(name)
    finally:
        for folder in folders:
            sys.path.remove(folder)


def large(device: str, small: Any, large: Any) -> Any:
    """A size for the interpreter, and one for a GPU."""
    return large if device == "cuda" else small


def needs_cpu_only(device: str) -> None:
    if device == "cpu" and torch.cuda.is_available():
        pytest.skip("the package uses the CUDA device of this machine")


def write(place: Path, **files: str) -> None:
    """Files by name: ``pkg__sub`` is pkg/sub.py, ``pkg`` a package with this text."""
    for name, text in files.items():
        parts = name.split("__")
        folder = place.joinpath(*parts[:-1])
        is_package = any(other.startswith(f"{name}__") for other in files)
        path = folder / parts[-1] / "__init__.py" if is_package else folder / f"{parts[-1]}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    importlib.invalidate_caches()


def real_triton() -> types.ModuleType:
    module = importlib.import_module("triton")
    assert module.__name__ == "triton"
    assert hasattr(module, "jit")
    return module
