"""Drives a written package: what it launches for each text and each define set is the kernel of that very text.

Input: the files of a package and its ``Site``s: where its code names a text, and the functions that the text became
(proved by proof.py). The files are written into a temporary folder, and a process without pytriton imports them and
looks up every site as the package's code would (templates/port_check.py.j2). Output: a note for each site where the
function, a helper, a constexpr or the type of a parameter is not that of the proved kernel.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytriton.emit.templates import render
from pytriton.lang.tree.types import PointerType
from pytriton.port.jobs.translations import Defines
from pytriton.port.kernels import PortedKernel, element
from pytriton.port.notes import Note
from pytriton.port.package.output import write_new
from pytriton.port.package.package import Package

__all__ = ["wrong_sites"]


def wrong_sites(package: Package) -> Iterator[Note]:
    """What the written package does otherwise than the texts say."""
    files = {name: data for name, data in package.files.items() if data is not None}
    sets = [[(one, known.defines) for one in site.functions for known in one.sets] for site in package.sites]
    questions = [
        {"where": site.where, "sets": [defines for _, defines in known]}
        for site, known in zip(package.sites, sets, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_new(Path(folder), files)
        asked = json.dumps(
            {"root": os.path.realpath(folder), "folder": package.folder, "questions": questions}
        )
        command = [sys.executable, "-W", "ignore", "-c", render("port_check.py.j2")]
        environment = os.environ | {"TRITON_INTERPRET": "0"}
        done = subprocess.run(command, input=asked, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        yield Note(package.folder, f"the written modules cannot be imported: {last}")
        return
    for site, known, answers in zip(package.sites, sets, json.loads(done.stdout), strict=True):
        for (kernel, defines), answer in zip(known, answers, strict=True):
            wrong = answer["error"] or _wrong(kernel, defines, answer, files[answer["file"]])
            if wrong is not None:
                yield Note(
                    site.place, f"what was written for this text is wrong with {dict(defines)}: {wrong}"
                )
                break


def _wrong(kernel: PortedKernel, defines: Defines, answer: Mapping[str, Any], written: bytes) -> str | None:
    """What differs between a proved kernel and what is launched for a define set; None for nothing."""
    place = f"{answer['file']}:{answer['line']}"
    *helpers, wanted = _functions(kernel.text.encode())
    names = [name for name, *_ in _functions(written)]
    bodies = {(name, body) for name, _, body in _functions(written)}
    (launched,) = (body for _, line, body in _functions(written) if line == answer["line"])
    if launched != wanted[2]:
        return f"{place} is another kernel"
    if any((name, body) not in bodies or names.count(name) > 1 for name, _, body in helpers):
        return f"{place} has other helpers"
    bound, types = kernel.bind(defines), dict.fromkeys(one.identifier for one in kernel.parameters)
    for name in bound:
        if repr(answer["passed"].get(name)) != repr(bound[name]):
            return f"{name} is {answer['passed'].get(name)!r}, not {bound[name]!r}"
    translation = next((made for of, made in kernel.variants if of == defines), None)
    if translation is not None:
        types |= {
            p.identifier: element(p) + "*" * isinstance(p.type, PointerType) for p in translation.parameters
        }
        if types != answer["types"]:
            return f"the parameters are {answer['types']}, not {types}"
    return None


@cache
def _functions(text: bytes) -> tuple[tuple[str, int, str], ...]:
    """The functions of a module: the name, the first line, and the rest."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return tuple(
        (node.name, node.decorator_list[0].lineno, ast.dump(node).replace(node.name, "", 1))
        for node in functions
    )
