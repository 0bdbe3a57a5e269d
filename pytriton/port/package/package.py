"""The map: a folder of an old package -> the files of the ported one.

texts -> kernels -> modules of kernels -> Python files with names in place of texts -> the launcher module
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytriton.port.kernels import PortedKernel, Unportable, port_kernel
from pytriton.port.package.edits import Ported, edited
from pytriton.port.package.imports import LAUNCHER, Uses, uses_of
from pytriton.port.package.launcher import NAMES, PASSED, launcher
from pytriton.port.package.modules import Entry, module, source_name
from pytriton.port.package.texts import Text, python_files, texts_of
from pytriton.port.run.observations import Observation
from pytriton.source import Source

__all__ = ["Package", "port_package"]


@dataclass
class Package:
    """The ported package: its files by their paths in it, None for one that left. ``problems``: what a person must do."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    kernels: list[PortedKernel] = field(default_factory=list)


@dataclass
class _Module:
    """A module of kernels while it is filled."""

    name: str
    where: str
    from_file: bool
    entries: list[Entry] = field(default_factory=list)


def port_package(root: Path, seen: Sequence[Observation]) -> Package:
    """Everything. Files that stay as they are are not listed."""
    package = Package()
    texts = texts_of(root, seen)
    folder = _free_folder(root)
    modules: dict[Path, _Module] = {}
    strings: dict[str, Ported] = {}
    for text in texts:
        _port_text(package, text, root, folder, modules, strings)
    if not package.kernels:
        return package
    reads = any(one.from_file for one in modules.values())
    uses = Uses()
    trees = {path: path.read_bytes() for path in python_files(root)}
    _edit_files(package, root, trees, uses, strings, reads)
    for path, one in modules.items():
        text = module(one.where, "..", one.entries, one.from_file)
        package.files[f"{folder}/{one.name}.py"] = text.encode()
        if one.from_file:
            package.files[_relative(path, root)] = None
    package.files[f"{folder}/__init__.py"] = b'"""The kernels of this package."""\n'
    package.files[f"{LAUNCHER}.py"] = launcher(folder, uses, package.kernels, reads).encode()
    return package


def _relative(path: Path, root: Path) -> str:
    return path.resolve().relative_to(root.resolve()).as_posix()


def _free_folder(root: Path) -> str:
    names = ("kernels", "ported_kernels")
    return next(name for name in names if not (root / name).exists() and not (root / f"{name}.py").exists())


# ---------------------------------------------------------------- kernels


def _port_text(
    package: Package,
    text: Text,
    root: Path,
    folder: str,
    modules: dict[Path, _Module],
    strings: dict[str, Ported],
) -> None:
    """Add the kernels of one text to the module of its file."""
    if not text.homes or not text.sets:
        why = "nothing launched it" if text.homes else "it is put together while the program runs"
        package.problems.append(f"{_place(text, root)}: {why}: not ported")
        return
    home = text.homes[0]
    try:
        functions = port_kernel(
            Source(text.text, _relative(home.path, root)), text.kernel, text.sets, strict_literals=text.strict
        )
    except Unportable as error:
        package.problems.append(f"{_place(text, root)}: {error}")
        return
    owner = modules.get(home.path)
    if owner is None:
        name = _module_name(home.path, {one.name for one in modules.values()})
        owner = modules[home.path] = _Module(name, _relative(home.path, root), home.path.suffix != ".py")
    if any(function.kernel is None for function in functions) and len(functions) > 1:
        package.problems.append(f"{_place(text, root)}: its define sets name several kernels: not ported")
        return
    function = functions[0].function
    entry = Entry(source_name(function), functions[0].kernel or function, functions)
    taken = {one.name for one in owner.entries}
    if entry.name in taken:
        package.problems.append(f"{_place(text, root)}: another kernel there is called {function}: not ported")
        return
    owner.entries.append(entry)
    package.kernels += functions
    if not owner.from_file:
        strings[text.text] = Ported(entry.name, f"{folder}.{owner.name}")


def _place(text: Text, root: Path) -> str:
    if text.homes:
        home = text.homes[0]
        return f"{_relative(home.path, root)}:{home.line}" if home.line else _relative(home.path, root)
    path, line = text.made[0]
    return f"{_relative(path, root)}:{line}"


def _module_name(path: Path, taken: set[str]) -> str:
    stem = re.sub(r"\W", "_", path.stem)
    stem = path.parent.name if stem == "__init__" else stem
    return next(name for name in (stem, f"{stem}_texts", f"{stem}_texts_2") if name not in taken)


# ---------------------------------------------------------------- Python files


def _edit_files(
    package: Package,
    root: Path,
    files: Mapping[Path, bytes],
    uses: Uses,
    strings: Mapping[str, Ported],
    reads: bool,
) -> None:
    """The Python files that change, and what all of them use."""
    import ast

    for path, data in files.items():
        depth = len(path.relative_to(root).parts)
        dots = "." * depth
        of_file = uses_of(ast.parse(data))
        uses.add(of_file)
        unknown = sorted(of_file.names - NAMES - PASSED)
        for name in [*(f"triton.{name}" for name in unknown), *sorted(of_file.modules)]:
            package.problems.append(f"{_relative(path, root)}: {name} is not in today's Triton")
        near = {text: Ported(ported.name, f"{dots}{ported.module}") for text, ported in strings.items()}
        changed = edited(data, dots, near, reads)
        if changed != data:
            package.files[_relative(path, root)] = changed
