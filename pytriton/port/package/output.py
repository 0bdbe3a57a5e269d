"""Writes a ported package: into a new folder, as a diff, or in its own place.

Input: the folder of the old package and the files of the new one that differ from it. Output: what a person reads,
and files. A folder that holds anything else than what would be written is left alone, so a second run changes
nothing, and nothing that was edited is lost.
"""

from __future__ import annotations

import difflib
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["diff", "uncommitted", "write_copy", "write_in_place"]

Files = Mapping[str, bytes | None]  # by their paths in the package; None for one that leaves


def diff(root: Path, files: Files) -> str:
    """The change as a unified diff."""
    return "".join(line for name in sorted(files) for line in _diff_of(root, name, files[name]))


def _diff_of(root: Path, name: str, data: bytes | None) -> Iterator[str]:
    path = root / name
    before = _lines(path.read_bytes()) if path.exists() else []
    after = _lines(data) if data is not None else []
    old = f"a/{root.name}/{name}" if path.exists() else "/dev/null"
    new = f"b/{root.name}/{name}" if data is not None else "/dev/null"
    for line in difflib.unified_diff(before, after, old, new):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", errors="replace").splitlines(keepends=True)


def write_copy(root: Path, files: Files, target: Path) -> tuple[int, list[str]]:
    """The whole package in another folder: how many files were written, and which stand there with other contents.

    If there are such files, nothing is written.
    """
    wanted = {name: data for name, data in files.items() if data is not None}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and name not in files:
            wanted[name] = path.read_bytes()
    strange = [name for name in _names(target) if name not in wanted]
    strange += [
        n for n, data in wanted.items() if (target / n).exists() and (target / n).read_bytes() != data
    ]
    if strange:
        return 0, sorted(strange)
    fresh = [name for name in wanted if not (target / name).exists()]
    for name in fresh:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(wanted[name])
        if (root / name).exists():
            (target / name).chmod((root / name).stat().st_mode)
    return len(fresh), []


def _names(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix()


def write_in_place(root: Path, files: Files) -> int:
    """The change, made in the package itself; how many files were touched."""
    for name, data in files.items():
        path = root / name
        if data is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return len(files)


def uncommitted(root: Path) -> list[str]:
    """The files below a folder with changes that git has not committed; nothing outside of a git tree."""
    command = ["git", "-C", str(root), "status", "--porcelain", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return []
    return [line[3:] for line in done.stdout.splitlines()] if done.returncode == 0 else []
