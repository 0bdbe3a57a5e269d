"""The small commands: ``info``, ``explain`` and ``completion``.

``explain`` prints docs/errors/TC302.md: a wheel holds these pages inside the package, a checkout in ``docs``.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import platform
import re
import sys
import textwrap
from pathlib import Path
from typing import Final

from pytriton.command_line import usage

_FILES: Final = {"FILE", "OUT", "DIR", "PATH", "SCRIPT"}  # arguments that are files or folders


def complete(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script for a shell: 0, or 2 without shtab, which writes it."""
    try:
        shtab = importlib.import_module("shtab")
    except ModuleNotFoundError:
        print("pytriton completion: error: no shtab; pip install 'pytriton-c[completion]'", file=sys.stderr)
        return 2
    (commands,) = (action.choices for action in parser._actions if isinstance(action.choices, dict))
    for command in commands.values():
        for action in command._actions:
            if action.metavar in _FILES or action.dest in _FILES:
                action.complete = shtab.FILE
    print(shtab.complete(parser, shell))
    return 0


_LIBRARIES = ("torch", "triton", "numpy", "lark", "jinja2")


def about(version: str) -> str:
    """Versions (pytriton's is given), the device, the cache directory and what runs CPU tensors, a line each."""
    rows = {
        "pytriton": version,
        "Python": platform.python_version(),
        "system": platform.platform(),
    }
    rows |= {library: _version(library) for library in _LIBRARIES}
    if "not installed" not in (rows["torch"], rows["triton"]):
        rows |= importlib.import_module("pytriton.runtime.compile.compiler").rows()
        rows["CPU tensors"] = importlib.import_module("pytriton.runtime.native.native_kernel").runner()
    rows["executable"] = sys.executable
    width = max(map(len, rows))
    return "\n".join(f"{name:{width}}  {value}" for name, value in rows.items())


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def explain(options: argparse.Namespace) -> int:
    """Print one page: 0, or 2 for a code that does not exist."""
    available = pages()
    if options.list:
        for code, path in available.items():
            print(f"{code}  {_cause(path)}")
        return 0
    if options.code is None:
        return usage(options, "give a code, or --list")
    code = options.code.strip().strip("[]").upper()
    if re.fullmatch(r"\d{3}", code):
        code = f"TC{code}"
    if code in available:
        sys.stdout.write(available[code].read_text(encoding="utf-8"))
        return 0
    return usage(options, f"unknown code '{options.code}'; --list shows all")


def _cause(path: Path) -> str:
    """The cause that a page gives, in a line."""
    cause = re.search(r"\*\*Cause\.\*\* (.*)", path.read_text(encoding="utf-8"))
    return textwrap.shorten(cause[1], 100) if cause is not None else ""


def pages() -> dict[str, Path]:
    """The pages by their codes."""
    package = Path(__file__).resolve().parent
    for folder in (package / "explanations", package.parent / "docs" / "errors"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("TC*.md"))}
    return {}
