"""``pytriton port``: the order of the work.

Exit status: 0 nothing to do or all done, 1 manual work is needed (what was ported is written anyway; with
``--check`` also: a file is missing or out of date), 2 wrong usage. Files edited since they were written stay as
they are.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from pytriton.command_line import usage
from pytriton.errors import counted
from pytriton.fold.variants import names_in
from pytriton.port.notes import Note, remarks, shown_path
from pytriton.port.package.check import wrong_results, wrong_sites
from pytriton.port.package.comparison import comparisons
from pytriton.port.package.edits import LAUNCHER, uses_of
from pytriton.port.package.output import (
    Files,
    diff,
    missing,
    strange,
    uncommitted,
    whole,
    write_in_place,
    write_new,
)
from pytriton.port.package.package import Package, is_ported, port_alone, port_package
from pytriton.port.package.texts import Places
from pytriton.port.ported import PortedText, found_texts, port_texts, provable
from pytriton.port.read.extract import HOLE, files, root_of
from pytriton.port.report import count, entries, write_report
from pytriton.port.run.observations import ProgramError, observe
from pytriton.progress import report

MAX_SHOWN: Final = 3  # names of files in a message


def port(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    misuse = _misuse(options)
    if misuse is not None:
        return usage(options, misuse)
    is_package = _is_package(options)
    root = options.paths[0].resolve() if is_package else root_of(options.paths)
    try:
        if is_package and is_ported(root):
            trees = Places(root).trees
            old = [str(path) for path, tree in trees.items() if uses_of(tree).names & {"kernel", "read"}]
            print(f"{root.name}: is already ported" + f", but not {_listed(old)}" * bool(old))
            return int(bool(old))
        paths = list(files(options.paths, options.out))
        seen, status = observe(options.run, options.paths) if options.run else ([], 0)
    except FileNotFoundError as error:
        print(f"{error}: error: No such file or directory", file=sys.stderr)
        return 2
    except (ProgramError, FileExistsError) as error:
        return _refused(str(error))
    os.environ.pop("TRITON_INTERPRET", None)  # kernels are compiled, to be proved
    texts = found_texts(paths, root_of(options.paths), seen, options.run or "")
    if strange_names := _unknown(_given(options.defines), [str(found.text) for found, _ in texts]):
        return usage(options, f"-D {strange_names[0]}: no source has this name")
    ported = _ported(texts, root, options)
    package = port_package(root, ported) if is_package else port_alone(root, ported)
    wrong = [*wrong_sites(package)] if provable() and package.files else []
    if package.plain is not None:
        package.without_launcher()
    if provable() and package.files and not wrong:
        wrong += wrong_results(package)
    package.problems += wrong
    if status:
        text = f"the program ended with status {status}; what it launched before is ported"
        package.problems.insert(0, Note(options.run, text))
    for problem in package.problems:
        print(problem, file=sys.stderr)
    if options.report is not None:
        try:
            write_report(options.report, root, entries(ported, package, root), package.problems)
        except OSError as error:
            return _refused(f"{options.report}: {error.strerror}")
        print(f"{options.report}: report written", file=sys.stderr if options.diff else sys.stdout)
    if not package.files:
        print("no Triton-C was ported" if texts else "no Triton-C was found", file=sys.stderr)
        return 1 if package.problems else 0
    disproved = any(kernel.proof and kernel.proof.wrong for text in ported for kernel in text.kernels)
    try:
        return _output(root, package, options, is_package) or int(disproved or bool(package.problems))
    except OSError as error:
        return _refused(f"{error.filename}: {error.strerror}")


def _is_package(options: argparse.Namespace) -> bool:
    """Whether a package is to be ported whole: one folder with an ``__init__.py``."""
    return (
        not options.kernels_only and len(options.paths) == 1 and (options.paths[0] / "__init__.py").exists()
    )


def _misuse(options: argparse.Namespace) -> str | None:
    if options.in_place and not _is_package(options):
        return "--in-place is for one package: a folder with an __init__.py"
    if options.in_place:
        try:
            changed = uncommitted(options.paths[0].resolve())
        except OSError as error:
            return f"--in-place makes commits: {error.strerror}"
        if changed:
            return f"--in-place: {_listed(changed)}: commit your changes first"
    if options.report is not None and options.report.suffix not in (".html", ".json"):
        return f"{options.report}: a report is an .html or a .json file"
    out = options.out.resolve()
    if _is_package(options) and not options.in_place and options.paths[0].resolve() in (out, *out.parents):
        return f"{options.out}: is inside the package"
    if options.out.exists() and not options.out.is_dir():
        return f"{options.out}: is not a directory"
    return None


def _refused(message: str) -> int:
    print(f"pytriton port: error: {message}", file=sys.stderr)
    return 2


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:MAX_SHOWN]) + (", ..." if len(names) > MAX_SHOWN else "")


def _given(pairs: Sequence[str]) -> dict[str, Any]:
    """``-D TM=64,128``: a list is a sweep; ``-D "ALONG=':, newaxis', 'newaxis, :'"``: one of texts with commas."""
    defines: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        values = value.split(",") if equals else ["1"]
        if value[:1] in ("'", '"'):
            with suppress(ValueError, SyntaxError):
                values = [*map(str, ast.literal_eval(f"[{value}]"))]
        defines[name] = values if len(values) > 1 else values[0]
    return defines


def _unknown(defines: Mapping[str, Any], texts: Sequence[str]) -> list[str]:
    """The defines that no text has, nor the text of another one; where texts are read to the end."""
    words = {word for text in (*texts, *map(str, defines.values())) for word in names_in(text)}
    whole = texts and not any(HOLE in text or "##" in text for text in texts)
    return [name for name in defines if name not in words] if whole else []


def _ported(texts: Sequence[Any], root: Path, options: argparse.Namespace) -> list[PortedText]:
    """The texts, ported and proved; a line is printed for each kernel as soon as it is done."""
    stream = sys.stderr if options.diff else sys.stdout
    names = [shown_path(extracted.path, root) for extracted, _ in texts]
    done: list[PortedText] = []
    if texts and not provable():
        print("Triton is not installed: the kernels are not proved", file=stream)
    following = port_texts(texts, _given(options.defines), options.simplify)
    for number, name in enumerate(names, 1):
        report(f"porting {name} ({number} of {len(names)})")
        done.append(next(following))
        for line in _lines(done[-1], name, root):
            print(line, file=stream, flush=True)
    return done


def _lines(text: PortedText, name: str, root: Path) -> list[str]:
    """The report of a source: a line for each kernel, its notes, and its differences."""
    lines: list[str] = []
    for kernel in text.kernels:
        old, new = count(kernel.own_text), count(kernel.text)
        head = f"{name}: {kernel.function}: {counted(old, 'line')} -> {new}"
        lines.append(f"{head}; {kernel.summary()}" if kernel.proof else head)
        lines += [f"    {note}" for note in remarks(text, kernel, root)]
        wrong = kernel.proof.wrong if kernel.proof else ()
        lines += ["    refused, as the compiled code differs:"] * bool(wrong)
        for difference in wrong:
            lines += [f"    {dict(difference.defines)}", *(f"        {line}" for line in difference.lines)]
    return lines


def _output(root: Path, package: Package, options: argparse.Namespace, is_package: bool) -> int:
    """Write, or show what would be written."""
    target = root if options.in_place else options.out / root.name if is_package else options.out
    wanted = whole(root, package.files) if is_package else package.files
    folders: list[tuple[Path, Files]] = [(target, wanted)]
    if options.with_tests:
        name = target.resolve().name
        folders.append((target.parent / f"{name}_comparison", comparisons(name, package.placed)))
    if options.diff:
        before = [root if is_package else target, *(folder for folder, _ in folders[1:])]
        after = [package.files, *(files for _, files in folders[1:])]
        for folder, changed in zip(before, after, strict=True):
            sys.stdout.write(diff(folder, changed))
        return 0
    status = 0
    for folder, files_wanted in folders:
        if folder == root:
            touched = write_in_place(root, package.files)
        else:
            others = [name for name in strange(folder, files_wanted) if is_package or name in files_wanted]
            if others and not options.check:
                return _refused(f"{folder}: has other files than those of this port: {_listed(others)}")
            touched = [*missing(folder, files_wanted), *others]
            if not options.check:
                write_new(folder, files_wanted, root)
        status |= options.check and bool(touched)
        done = f"would be written{': ' * bool(touched)}{_listed(touched)}" if options.check else "written"
        print(f"{folder}: {_counted(package, folder is folders[0][0])}{counted(len(touched), 'file')} {done}")
    return status


def _counted(package: Package, kernels: bool) -> str:
    """How many kernels there are, and how many lines they had and have with their tables, empty ones aside."""
    if not kernels:
        return ""
    old = sum(count(kernel.own_text) for kernel in package.kernels)
    sizes = {name: count((text or b"").decode(errors="replace")) for name, text in package.files.items()}
    new, launcher = (
        sum(sizes[name] for name in {placed.module for placed in package.placed}),
        sizes[f"{LAUNCHER}.py"] if package.plain is None else 0,
    )
    lines = f"{counted(old, 'line')} of Triton-C -> {new} of Python, {launcher} of launcher"
    return f"{counted(len(package.placed), 'kernel')}, {lines}, "
