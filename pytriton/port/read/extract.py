"""Files -> the Triton-C texts in each, and the launches of them that its Python shows.

A Triton-C file is its own text. Python is followed (``interpret``); texts that nothing launches are found by
their looks.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytriton.errors import CompileError, Report
from pytriton.lang.tokens import decode
from pytriton.port.read.interpret import follow
from pytriton.port.read.library import parsed
from pytriton.port.read.values import LaunchSite, Traced, traced


@dataclass(eq=False)
class Found:
    """One text. ``launches`` are those of kernel objects made of it."""

    path: Path
    text: Traced
    launches: list[LaunchSite] = field(default_factory=list)
    problem: str | None = None
    notes: list[tuple[Path, int, str]] = field(
        default_factory=list
    )  # for the report, each with a line of a file


_KERNEL: Final = re.compile(r"\bvoid\s+\w+\s*\(")
_MARKS: Final = re.compile(
    r"\bget_program_id\b|\bget_num_programs\b|\bnewaxis\b|\*\s*\?\s*\(|\]\s*=[^;\n]*\.\.\.|\b__multipleof\b|\b__noalias\b"
    r"|\w\s*\.\.\.\s*\w+\s*;|\b__debug_barrier\b|\bf32_atomic_add\b|\batomic_add_\w+\b|\[\s*\+\s*\]|\b__readonly\b"
)
_CUDA: Final = re.compile(r"\b(threadIdx|blockIdx|blockDim|__syncthreads|__shared__|__device__)\b")


HOLE: Final = "\ue000"  # a part that is only known at run time
BUILT: Final = "this source is put together at run time: use --run"
UNREAD: Final = "this launch is only known at run time: use --run"


def looks_like(text: str) -> bool:
    """Whether a text is Triton-C: it declares a kernel, and has a mark that C and CUDA lack."""
    return bool(_KERNEL.search(text) and _MARKS.search(text) and not _CUDA.search(text))


def text_of_file(path: Path) -> str | None:
    """The text of a file that may be Triton-C; None for any other."""
    if path.suffix == ".py":
        return None
    try:
        text = decode(path.read_bytes(), str(path), Report()).text
    except CompileError:
        return None
    return text if looks_like(text) or re.search(r"^\s*#\s*define\b", text, re.MULTILINE) else None


def extract(path: Path, root: Path) -> list[Found]:
    """Everything found in a file; raises OSError if it cannot be read."""
    data = path.read_bytes()
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if path.suffix == ".py":
        return _python(path, text, root)
    return [Found(path, _whole(text))] if looks_like(text) else []


def _whole(text: str, line: int = 1) -> Traced:
    return traced(((text, line),))


# Python


def _python(path: Path, text: str, root: Path) -> list[Found]:
    try:
        tree = parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = f"this Python cannot be read ({error.__class__.__name__}: {error})"
        return [Found(path, _whole(HOLE), problem=why)] if looks_like(text) else []
    launches, passed_on = follow(path, tree, root)
    sources = list(_by_text(path, launches))
    sources += [
        Found(path, _whole(f"{HOLE}{path}:{line}", line), problem=UNREAD)
        for line in _unread(path, tree, launches, passed_on)
    ]
    used = {line for text in sources for line in _lines_of(text)}
    for loose, lines, problem in _loose(tree):
        if not used.intersection(lines):
            sources.append(Found(path, loose, problem=problem))
    return sources


def _by_text(path: Path, launches: list[LaunchSite]) -> Iterator[Found]:
    """The launches sorted by their text."""
    groups: dict[str, Found] = {}
    for launch in launches:
        source = launch.kernel.source
        if not isinstance(source, str) or not source.strip():
            continue
        text = source if isinstance(source, Traced) else traced(((str(source), launch.kernel.line),))
        groups.setdefault(text, Found(text.path or path, text)).launches.append(launch)
    yield from groups.values()


def _unread(
    path: Path, tree: ast.Module, launches: list[LaunchSite], passed_on: set[tuple[int, int]]
) -> Iterator[int]:
    """The lines of calls that look like launches, by ``grid=``, and on no path launch a text that is known.

    ``passed_on``: calls of functions, which pass a grid on, as methods of ``self`` do.
    """
    of_texts = [launch for launch in launches if isinstance(launch.kernel.source, str)]
    read = {launch.line for launch in of_texts if launch.file == path}
    methods = {f"self.{node.name}" for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.lineno not in read:
            grids = [keyword.value for keyword in node.keywords if keyword.arg == "grid"]
            passes = (node.end_lineno, node.end_col_offset) in passed_on or ast.unparse(node.func) in methods
            if grids and not isinstance(grids[0], ast.Constant) and not passes:
                yield node.lineno


def _lines_of(extracted: Found) -> Iterator[int]:
    """The lines of the Python file that contain a source."""
    if extracted.text.path is None:
        for piece, line in extracted.text.pieces:
            yield from range(line, line + piece.count("\n") + 1)


_FILLED_IN: Final = re.compile(r"%(\(\w+\))?[sd]|\{\w+\}")  # by ``%`` and ``str.format``


def _loose(tree: ast.Module) -> Iterator[tuple[Traced, range, str | None]]:
    """The texts of a module that look like Triton-C, docstrings too, their lines, and why one cannot be read."""
    for node in strings_of(tree):
        text = _FILLED_IN.sub(HOLE, template(node))
        if looks_like(text.replace(HOLE, "hole")):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            yield traced(((text, node.lineno),)), lines, BUILT if HOLE in text else None


def strings_of(tree: ast.Module) -> Iterator[ast.Constant | ast.JoinedStr]:
    """The strings of a file, those inside others aside."""
    outer = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    inside = {id(part) for node in outer for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr() | ast.Constant(value=str()) if id(node) not in inside:
                yield node


def template(node: ast.Constant | ast.JoinedStr) -> str:
    """A string, with a hole in place of each value of an f-string."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else HOLE for part in parts)


def is_part(text: str, other: str) -> bool:
    """Whether another text may be made of this one: it has most of its lines."""
    # what is doubled, for ``%`` and ``str.format``, is one
    lines, others = (
        {_DOUBLED.sub(r"\1", line.strip()) for line in some.splitlines()} for some in (text, other)
    )
    return len(lines & others) > len(lines) / 2


_DOUBLED: Final = re.compile(r"([%{}])\1")


# The files

SUFFIXES: Final = (".c", ".tr", ".h", ".py")

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
