"""Drives a written package: what it launches for each text and each define set is the kernel of that very text, and
computes the same.

Input: the files of a package and its ``Site``s: where its code names a text, and the functions that the text became
(proved by prove.py). The files are written into a temporary folder, and a process without pytriton imports them and
looks up every site as the package's code would (templates/port_check.py.j2). Output: a note for each site where the
function, a helper or a constexpr is not that of the proved kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import cycle
from pathlib import Path
from typing import Any

from pytriton.emit.templates import render
from pytriton.port.jobs.translations import Defines
from pytriton.port.notes import Note
from pytriton.port.package.comparison import chosen, sizes_of
from pytriton.port.package.modules import BETWEEN, named
from pytriton.port.package.output import write_new
from pytriton.port.package.package import Package, Placed


def wrong_sites(package: Package) -> Iterator[Note]:
    """Where the written package differs from the sources: a note for each site."""
    files = {name: data for name, data in package.files.items() if data is not None}
    placed_of = {id(placed.kernel): placed for placed in package.placed}
    asked = [(site, member.defines) for site in package.sites for member in site.kernel.sets]
    with tempfile.TemporaryDirectory() as folder:
        write_new(Path(folder), files)
        questions = [(site.where, defines) for site, defines in asked]
        request = json.dumps([os.path.realpath(folder), package.folder, questions])
        command = [sys.executable, "-W", "ignore", "-c", render("port_check.py.j2")]
        environment = os.environ | {"TRITON_INTERPRET": "0"}
        done = subprocess.run(command, input=request, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        yield Note(package.folder, f"the written modules cannot be imported: {last}")
        return
    reported = set()
    for (site, defines), answer in zip(asked, json.loads(done.stdout), strict=True):
        placed = placed_of[id(site.kernel)]
        wrong = answer["error"] or _wrong(placed, defines, answer, files[placed.module].decode())
        if wrong and site.where not in reported:
            reported.add(site.where)
            yield Note(site.place, f"what was written for this source is wrong with {dict(defines)}: {wrong}")


def _wrong(placed: Placed, defines: Defines, answer: Mapping[str, Any], written: str) -> str | None:
    """The difference between a proved kernel and the launched one for a define set; None for none."""
    if (launched := answer["function"]) != [placed.module, placed.function]:
        return f"{':'.join(launched)} is another kernel"
    _, *helpers, function = placed.kernel.text.rstrip("\n").split(BETWEEN)
    if not {*helpers, named(function, placed.function)} <= {*written.rstrip("\n").split(BETWEEN)}:
        return f"{':'.join(launched)} has another text"
    bound = placed.kernel.bind(defines)
    passed = {name: answer["passed"].get(name) for name in bound}
    return None if repr(passed) == repr(bound) else f"the constexprs are {passed}, not {bound}"


def wrong_results(package: Package) -> Iterator[Note]:
    """Where a written kernel computes something else than its source, on small random memory: a note for each.

    Memory that is too small for a kernel, and locks that nothing opens, prove nothing.
    """
    testing = import_module("pytriton.testing")
    unclear = import_module("pytriton.compat.triton_names").InterpreterError
    files = {name: data for name, data in package.files.items() if data is not None}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_new(Path(folder, "port"), files)
        for placed in package.placed:
            kernel, path = placed.kernel, Path(folder, "port", placed.module)
            for defines, size in zip(chosen(kernel), cycle(sizes_of([placed])), strict=False):
                case = testing.Case(defines, {}, strict_literals=placed.strict)
                try:
                    launch = testing.ported(path.parent, path.stem, placed.source, defines)
                    testing.compare(kernel.own_text, kernel.kernel, launch, case, size, (2, 2, 1))
                except unclear:
                    continue
                except Exception as error:
                    what = f"what was written differs from its source with {dict(defines)}: {error}"
                    yield Note(f"{placed.module}: {placed.function}", what)
                    break
