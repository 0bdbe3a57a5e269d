"""Writes a ported package: into a new folder, as a diff, or in its own place.

Input: the folder of the old package and the files of the new one that differ from it. Output: what a person reads,
and files. A folder that holds anything else than what would be written is left alone, so a second run changes
nothing, and nothing that was edited is lost.
"""

from __future__ import annotations

import difflib
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

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


def whole(root: Path, files: Files) -> Files:
    """All files of the ported package: those that differ, and the others as they are."""
    wanted = {name: data for name, data in files.items() if data is not None}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and "__pycache__" not in path.parts and name not in files:
            wanted[name] = path.read_bytes()
    return wanted


def strange(target: Path, wanted: Files) -> list[str]:
    """The files in a folder that have other contents than those that would be written, or would not be written."""
    there = [path for path in target.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    names = {path.relative_to(target).as_posix(): path for path in there}
    return sorted(name for name, path in names.items() if path.read_bytes() != wanted.get(name))


def missing(target: Path, wanted: Files) -> list[str]:
    """The files that are not there."""
    return [name for name in wanted if not (target / name).exists()]


def write_new(target: Path, wanted: Files, root: Path | None = None) -> None:
    """Write the files that are not there. Those that are in ``root`` keep their modes."""
    for name in missing(target, wanted):
        path, data = target / name, wanted[name]
        assert data is not None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if root is not None and (root / name).exists():
            path.chmod((root / name).stat().st_mode)


def write_in_place(root: Path, files: Files) -> list[str]:
    """The change, made in the package itself; the files that were touched. Raises OSError.

    There is a commit for each file, new ones first, and a last one for those that leave.
    """
    for name in files:
        if (root / name).exists() and not _git(root, "ls-files", "--", name):
            raise OSError(1, "git ignores this file: commit it first", name)
    for name in sorted(files, key=lambda name: (root / name).exists()):
        if (data := files[name]) is not None:
            what = f"port {name} to @triton.jit" if (root / name).exists() else f"add {name} for the port"
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
            _commit(root, what, [name])
    left = [name for name, data in files.items() if data is None]
    for name in left:
        (root / name).unlink()
    if left:
        _commit(root, f"remove what was ported from {root.name}", left)
    return [*files]


def _commit(root: Path, message: str, names: Sequence[str]) -> None:
    for command in (["add", "--force"], ["commit", "--quiet", "--message", message]):
        _git(root, *command, "--", *names)


def uncommitted(root: Path) -> list[str]:
    """The files below a folder with changes that git has not committed. Raises OSError outside of a git tree."""
    return [line[3:] for line in _git(root, "status", "--porcelain", "--", ".").splitlines()]


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.returncode, done.stderr.strip() or "failed: see git status", f"git {arguments[0]}")
    return done.stdout
