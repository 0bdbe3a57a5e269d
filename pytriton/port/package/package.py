"""The map: a folder of an old package -> the files of the ported one.

texts -> kernels -> modules of kernels -> Python files with names in place of texts -> the launcher module
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytriton.port.kernels import PortedKernel
from pytriton.port.package.edits import Name, edited
from pytriton.port.package.imports import LAUNCHER, Uses, uses_of
from pytriton.port.package.launcher import NAMES, PASSED, launcher
from pytriton.port.package.modules import Entry, module, source_name, table
from pytriton.port.package.texts import Place, Places, label_of_file
from pytriton.port.ported import PortedText

__all__ = ["Package", "is_ported", "port_package"]


@dataclass
class Package:
    """The files of the ported package by their paths in it, None for one that leaves. Others stay as they are.

    ``problems``: what a person must do.
    """

    files: dict[str, bytes | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    kernels: list[PortedKernel] = field(default_factory=list)


@dataclass
class _Module:
    """A module of kernels while it is filled."""

    name: str
    where: str
    entries: list[Entry] = field(default_factory=list)


@dataclass
class _Work:
    """What is known while a package is ported."""

    root: Path
    folder: str
    package: Package
    places: Places
    modules: dict[Path, _Module] = field(default_factory=dict)
    names: dict[tuple[Path, int], Name] = field(default_factory=dict)  # what stands for strings
    labels: dict[str, Name] = field(default_factory=dict)
    gone: dict[Path, None] = field(default_factory=dict)

    def shown(self, path: Path, line: int = 0) -> str:
        inside = path.resolve().relative_to(self.root.resolve()).as_posix()
        return f"{inside}:{line}" if line else inside


def is_ported(root: Path) -> bool:
    """Whether a package was ported before: it has a launcher module."""
    return (root / f"{LAUNCHER}.py").exists()


def port_package(root: Path, texts: Sequence[PortedText]) -> Package:
    """Everything, or no files where there is no kernel."""
    work = _Work(root, _free_folder(root), Package(), Places.of(root))
    unlaunched: list[tuple[PortedText, Place | None]] = []
    for text in texts:
        place = work.places.of_text(str(text.found.text))
        if not text.observed and not any(use.line for use in text.job.uses):
            unlaunched.append((text, place))
        else:
            _port_text(work, text, place)
    for text, place in unlaunched:
        if place is None or not set(place.files) & set(work.gone):
            line = place.line if place else 0
            work.package.problems.append(f"{work.shown(text.found.path, line)}: nothing launches this text")
    if work.package.kernels:
        _edit_files(work)
        _write_modules(work)
    return work.package


def _free_folder(root: Path) -> str:
    names = ("kernels", "ported_kernels")
    return next(name for name in names if not (root / name).exists() and not (root / f"{name}.py").exists())


# ---------------------------------------------------------------- kernels


def _port_text(work: _Work, text: PortedText, place: Place | None) -> None:
    """Add the kernel that a text is launched for to the module of its place."""
    where = work.shown(text.found.path, text.found.text.line_at(0))
    say = work.package.problems.append
    if place is None:
        say(f"{where}: how this text is put together cannot be followed: not ported")
        return
    kernels = list(_by_kernel(text.kernels, place.label is not None and len(place.files) == 1))
    if not kernels:
        failures = [str(one.error) for failed in text.failures.values() for one in failed]
        say(f"{where}: not ported: {failures[0] if failures else text.job.problem}")
    for functions in kernels:
        name = _add(work, place, functions)
        if name is None:
            say(f"{where}: not ported: another kernel of {work.shown(place.owner)} has the same name")
            continue
        if place.label is None:
            work.names[place.owner, place.line] = name
            continue
        translation = functions[0].variants[0].translation
        if translation.kernel == translation.kernels[0]:
            work.labels[place.label] = name
        if len(place.files) == 1 and functions[0].kernel is not None:
            work.labels[label_of_file(place.files[0], [functions[0].kernel])] = name
    work.gone |= dict.fromkeys(place.files if kernels else ())
    for template in place.templates:
        work.names[template.path, template.line] = Name("", "", template)


def _by_kernel(kernels: Sequence[PortedKernel], of_file: bool) -> Iterator[tuple[PortedKernel, ...]]:
    """The functions of each kernel that a program can ask for: of a file any, of a string the first."""
    groups: dict[str, list[PortedKernel]] = {}
    for kernel in kernels:
        translation = kernel.variants[0].translation
        if of_file or translation.kernel == translation.kernels[0]:
            groups.setdefault(kernel.kernel or "", []).append(kernel)
    yield from map(tuple, groups.values())


def _add(work: _Work, place: Place, functions: tuple[PortedKernel, ...]) -> Name | None:
    """Add a kernel to the module of its place; None where that has one of this name."""
    owner = work.modules.get(place.owner)
    if owner is None:
        taken = {one.name for one in work.modules.values()}
        owner = _Module(_module_name(place.owner, taken), work.shown(place.owner))
    entry = Entry(source_name(functions[0].function), functions)
    if any(one.name == entry.name for one in owner.entries):
        return None
    work.modules[place.owner] = owner
    owner.entries.append(entry)
    work.package.kernels += functions
    return Name(entry.name, f"{work.folder}.{owner.name}")


def _module_name(path: Path, taken: set[str]) -> str:
    stem = re.sub(r"\W", "_", path.parent.name if path.stem == "__init__" else path.stem)
    taken = {*taken, "launcher", "measure"}
    return next(name for name in (stem, f"{stem}_texts", f"{stem}_texts_2") if name not in taken)


def _write_modules(work: _Work) -> None:
    files = work.package.files
    for one in work.modules.values():
        files[f"{work.folder}/{one.name}.py"] = module(one.where, one.entries).encode()
    files[f"{work.folder}/__init__.py"] = table(work.labels).encode()
    for path in work.gone:
        files[work.shown(path)] = None


# ---------------------------------------------------------------- Python files


def _edit_files(work: _Work) -> None:
    """The Python files that change, and the launcher module for what all of them use."""
    uses = Uses()
    for path in sorted(work.root.rglob("*.py")):
        if "__pycache__" in path.parts:
            continue
        data = path.read_bytes()
        of_file = uses_of(ast.parse(data))
        unknown = [f"triton.{name}" for name in sorted(of_file.names - NAMES - PASSED)]
        for name in [*unknown, *sorted(of_file.modules)]:
            work.package.problems.append(f"{work.shown(path)}: {name} is not in today's Triton")
        uses.add(of_file)
        dots = "." * len(path.relative_to(work.root).parts)
        names = {line: name for (file, line), name in work.names.items() if file == path}
        changed = edited(data, dots, names, bool(work.gone))
        if changed != data:
            work.package.files[work.shown(path)] = changed
    modules = launcher(work.folder, uses, work.package.kernels, bool(work.gone), bool(work.labels))
    work.package.files |= {path: text.encode() for path, text in modules.items()}
