"""``python -m pytriton info``: what a report of a fault should say of a machine."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import shutil
import sys

__all__ = ["about"]

_LIBRARIES = ("torch", "triton", "numpy", "lark", "jinja2")
_COMPILERS = ("cc", "gcc", "clang", "ptxas", "nvcc")


def about(version: str) -> str:
    """Versions (pytriton's is given), the device, the cache directory and the compilers, a line each."""
    rows = {
        "pytriton": version,
        "Python": platform.python_version(),
        "system": platform.platform(),
    }
    rows |= {library: _version(library) for library in _LIBRARIES}
    if "not installed" not in (rows["torch"], rows["triton"]):
        rows |= importlib.import_module("pytriton.runtime.compile.compiler").rows()
    rows["compilers"] = ", ".join(name for name in _COMPILERS if shutil.which(name)) or "none"
    rows["executable"] = sys.executable
    width = max(map(len, rows))
    return "\n".join(f"{name:{width}}  {value}" for name, value in rows.items())


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
