"""Which files of the given paths are looked at.

Folders are walked in name order; hidden ones, environments and build outputs are left out, and so is every
file that ``port`` wrote itself: its first line is a marker.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".c", ".tr", ".h", ".cc", ".cpp", ".py")

MARK: Final = "# Ported from Triton-C by pytriton"

MAX_BYTES: Final = 4 << 20
_SKIPPED: Final = frozenset("__pycache__ node_modules build dist venv env site-packages".split())


def files(paths: Sequence[Path], out: Path | None = None) -> Iterator[Path]:
    """Every file to look at, once each. ``out`` is where ported modules go: it is not searched.

    Raises FileNotFoundError for a path that does not exist.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(str(path))
        for file in sorted(_walk(path, out)) if path.is_dir() else [path]:
            resolved = file.resolve()
            if resolved not in seen and file.suffix in SUFFIXES and not _generated(file):
                seen.add(resolved)
                yield file


def _walk(folder: Path, out: Path | None) -> Iterator[Path]:
    for here, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in sorted(folders)
            if not name.startswith(".")
            and name not in _SKIPPED
            and not (Path(here, name, "pyvenv.cfg").exists())
            and not (out is not None and Path(here, name).resolve() == out.resolve())
        ]
        yield from (Path(here, name) for name in names if not name.startswith("."))


def _generated(path: Path) -> bool:
    try:
        if path.stat().st_size > MAX_BYTES:
            return True
        with path.open("rb") as file:
            return file.read(len(MARK)) == MARK.encode()
    except OSError:
        return True


def root_of(paths: Sequence[Path]) -> Path:
    """The folder that names in reports and of modules are relative to."""
    folders = [path.resolve() if path.is_dir() else path.resolve().parent for path in paths]
    return Path(os.path.commonpath(folders))
