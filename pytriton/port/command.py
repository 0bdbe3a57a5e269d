"""``python -m pytriton port``: the options, and the order of the work.

Exit status: 0 nothing to do or all done, 1 something needs a person (with ``--check`` also: a module is
missing or out of date), 2 wrong usage. Modules that were edited since they were written stay as they are.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytriton.port.package.command import is_package, port_whole
from pytriton.port.parallel import each
from pytriton.port.read.extract import Found, extract
from pytriton.port.read.scan import files, root_of
from pytriton.port.report.grade import Grade, Result, joined, results
from pytriton.port.report.summary import Row, summary, table, write_report
from pytriton.port.run.observations import Observation, ProgramError, completed, observe, strangers
from pytriton.port.write.checks import named, test_module
from pytriton.port.write.module import edited

__all__ = ["add_port", "port"]


def add_port(commands: Any) -> None:
    """Add the command to an argparse object."""
    command = commands.add_parser("port", help="port all Triton-C of a code base to modern modules")
    command.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files and folders to search")
    command.add_argument("--out", type=Path, default=Path("ported"), metavar="DIR", help="default: ported")
    command.add_argument("--diff", action="store_true", help="show what would change, write nothing")
    command.add_argument(
        "--in-place", action="store_true", help="change the package itself (commit it first)"
    )
    command.add_argument(
        "--kernels-only", action="store_true", help="modules of kernels alone, also of a package"
    )
    command.add_argument("--check", action="store_true", help="write nothing; 1 if anything is out of date")
    command.add_argument("--report", type=Path, metavar="FILE", help="a report as .html or .json")
    command.add_argument("--with-tests", action="store_true", help="also write tests against the old source")
    command.add_argument(
        "--run", metavar="PROGRAM",
        help="'SCRIPT ARGS', '-m MODULE ARGS', 'pytest ARGS': run it, and port what it makes of texts",
    )  # fmt: skip
    command.add_argument(
        "-D", dest="defines", action="append", default=[], metavar="NAME=VALUE[,VALUE]",
        help="a define for every text; a list is a sweep",
    )  # fmt: skip


@dataclass(frozen=True)
class _File:
    """A file to write below the output folder."""

    name: str
    text: str


def port(options: argparse.Namespace) -> int:
    """Run the command; the exit status."""
    if options.diff and options.check:
        return _usage("--diff and --check exclude each other")
    if is_package(options):
        return port_whole(options, _given(options.defines))
    if options.in_place:
        return _usage("--in-place is for one package: a folder with an __init__.py")
    if options.report is not None and options.report.suffix not in (".html", ".json"):
        return _usage(f"{options.report}: a report is an .html or a .json file")
    if options.out.exists() and not options.out.is_dir():
        return _usage(f"{options.out}: is no directory")
    try:
        paths = list(files(options.paths, options.out))
    except FileNotFoundError as error:
        return _usage(f"{error}: no such file or directory")
    root = root_of(options.paths)
    try:
        seen = observe(options.run, options.paths) if options.run else []
    except ProgramError as error:
        return _usage(str(error))
    rows, written = _all(_merged(_texts(paths, root)), seen, root, options)
    states = {file.name: _state(options.out / file.name, file.text) for file in written}
    rows = [Row(row.file, row.result, row.module, states.get(row.module or "", "")) for row in rows]
    _output(rows, written, states, options)
    if options.report is not None:
        write_report(options.report, rows)
    stale = options.check and any(state in ("new", "changed") for state in states.values())
    person = any(row.result.grade is Grade.PERSON or row.state == "edited" for row in rows)
    return 1 if person or stale else 0


def _usage(message: str) -> int:
    print(f"pytriton port: error: {message}", file=sys.stderr)
    return 2


@dataclass(frozen=True)
class _Made:
    """A kernel that went through: its result, the file it is shown as, and its test as far as it is known."""

    shown: str
    result: Result
    test: str


def _all(
    texts: list[Found], seen: Sequence[Observation], root: Path, options: argparse.Namespace
) -> tuple[list[Row], list[_File]]:
    """Every kernel of every text, and the files to write."""
    texts = [*texts, *strangers(seen, texts, options.run or "")]
    every = _made(texts, root, options)
    if seen:
        every = _completed(texts, every, seen, root, options)
    rows: list[Row] = []
    written: list[_File] = []
    taken: set[str] = set()
    remaining = joined([one.result for some in every for one in some])
    for one in (one for some in every for one in some):
        if one.result not in remaining:
            continue
        module = None
        if one.result.written is not None:
            module = _module_name(one.shown, one.result.written.function, taken)
            written.append(_File(module, one.result.written.text))
            if one.test:
                name = "test_" + re.sub(r"[^\w]+", "_", module.removesuffix(".py")) + ".py"
                written.append(_File(name, named(one.test, module)))
        rows.append(Row(one.shown, one.result, module, ""))
    return rows, written


def _made(texts: Sequence[Found], root: Path, options: argparse.Namespace) -> list[list[_Made]]:
    """The kernels of each text."""
    given = _given(options.defines)

    def work(found: Found) -> list[_Made]:
        shown = _relative(found.path, root)
        return [_with_test(shown, result, options.with_tests) for result in results(found, given, shown)]

    return each(work, texts)


def _with_test(shown: str, result: Result, wanted: bool) -> _Made:
    test = ""
    if wanted and result.plan is not None and result.written is not None:
        test = test_module(result.plan, result.written, f"{shown}, {result.place}", result.old)
    return _Made(shown, replace(result, plan=None), test)  # a plan is large, and done with


def _completed(
    texts: Sequence[Found],
    every: Sequence[list[_Made]],
    seen: Sequence[Observation],
    root: Path,
    options: argparse.Namespace,
) -> list[list[_Made]]:
    """The same, with what a run made of texts that need a person otherwise; each text once."""
    completed_texts: list[list[_Made]] = []
    fresh: dict[str, Found] = {}
    for found, some in zip(texts, every, strict=True):
        person = any(one.result.grade is Grade.PERSON for one in some)
        better = completed(found, seen, options.run) if person else []
        completed_texts.append([] if better else some)
        for one in better:
            fresh.setdefault(str(one.text), one)
    return completed_texts + _made(list(fresh.values()), root, options)


def _texts(paths: Sequence[Path], root: Path) -> Iterator[Found]:
    for path in paths:
        try:
            yield from extract(path, root)
        except OSError as error:
            print(f"{path}: warning: {error.strerror}", file=sys.stderr)


def _merged(every: Iterator[Found]) -> list[Found]:
    """Equal texts of one file together: a ``.c`` file is found by itself, and where Python reads it."""
    groups: dict[tuple[Path, str], Found] = {}
    for found in every:
        key = (found.path.resolve(), str(found.text).strip())
        first = groups.setdefault(key, found)
        if first is not found:
            first.launches = [*first.launches, *found.launches]
            first.holes = first.holes or found.holes
            first.python = first.python or found.python
    return list(groups.values())


def _relative(path: Path, root: Path) -> str:
    resolved = path.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else path.name


def _module_name(shown: str, function: str, taken: set[str]) -> str:
    """``ops/dot.py`` for the kernel ``dot`` of ``ops/dot.c``, ``ops/softmax_forward.py`` for others."""
    path = Path(shown)
    stem = re.sub(r"\W+", "_", path.stem)
    name = stem if stem == function else f"{stem}_{function}"
    folder = "" if path.parent == Path(".") else f"{path.parent.as_posix()}/"
    number, module = 1, f"{folder}{name}.py"
    while module in taken:
        number += 1
        module = f"{folder}{name}_{number}.py"
    taken.add(module)
    return module


def _given(pairs: Sequence[str]) -> dict[str, Any]:
    """``-D TM=64,128``: a list is a sweep."""
    defines: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        values = value.split(",") if equals else ["1"]
        defines[name] = values if len(values) > 1 else values[0]
    return defines


def _state(path: Path, text: str) -> str:
    """What writing would do: ``new``, ``unchanged``, ``changed``, or ``edited`` (it is not ours any more)."""
    try:
        old = path.read_text(encoding="utf-8")
    except OSError:
        return "new"
    if old == text:
        return "unchanged"
    return "edited" if edited(old) else "changed"


def _output(
    rows: Sequence[Row], written: Sequence[_File], states: dict[str, str], options: argparse.Namespace
) -> None:
    if options.diff:
        for file in written:
            sys.stdout.write(_diff(options.out / file.name, file.text))
    elif not options.check:
        for tensor in written:
            if states[tensor.name] in ("new", "changed"):
                path = options.out / tensor.name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(tensor.text, encoding="utf-8")
    if not rows:
        print("no Triton-C was found")
        return
    stream = sys.stderr if options.diff else sys.stdout
    print(table(rows), file=stream)
    print(summary(rows), file=stream)
    counts = {
        state: list(states.values()).count(state) for state in ("new", "changed", "unchanged", "edited")
    }
    done = "would be written" if options.diff or options.check else "written"
    line = f"{counts['new'] + counts['changed']} files {done}, {counts['unchanged']} unchanged"
    if counts["edited"]:
        line += f", {counts['edited']} edited by hand and left alone (remove them to port them again)"
    print(f"{options.out}: {line}", file=stream)


def _diff(path: Path, text: str) -> str:
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    lines = difflib.unified_diff(
        old.splitlines(keepends=True), text.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(lines)
