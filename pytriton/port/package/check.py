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
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytriton.emit.templates import render
from pytriton.lang.tree.types import PointerType
from pytriton.pipeline import Translation
from pytriton.port.kernels import PortedKernel
from pytriton.port.notes import Note
from pytriton.port.package.output import write_new
from pytriton.port.package.package import Package, Site, Where

__all__ = ["wrong_sites"]


def wrong_sites(package: Package) -> Iterator[Note]:
    """What the written package does otherwise than the texts say."""
    files = {name: data for name, data in package.files.items() if data is not None}
    strings = sorted({site.where for site in package.sites if site.where[0] == "string"})
    sets = [[(one, known.defines) for one in site.functions for known in one.sets] for site in package.sites]
    questions = [
        {"where": _numbered(site, strings), "sets": [defines for _, defines in known]}
        for site, known in zip(package.sites, sets, strict=True)
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_new(Path(folder), files)
        asked = {"root": os.path.realpath(folder), "folder": package.folder, "questions": questions}
        command = [sys.executable, "-W", "ignore", "-c", render("port_check.py.j2")]
        environment = os.environ | {"TRITON_INTERPRET": "0"}
        done = subprocess.run(
            command, input=json.dumps(asked), capture_output=True, text=True, env=environment
        )
    if done.returncode != 0:
        last = done.stderr.strip().rpartition("\n")[2]
        yield Note(package.folder, f"the written modules cannot be imported: {last}")
        return
    trees = {name: ast.parse(data) for name, data in files.items() if name.endswith(".py")}
    for site, known, answers in zip(package.sites, sets, json.loads(done.stdout), strict=True):
        for (kernel, defines), answer in zip(known, answers, strict=True):
            wrong = _wrong(kernel, defines, answer, trees)
            if wrong is not None:
                yield Note(
                    site.place, f"what was written for this text is wrong with {dict(defines)}: {wrong}"
                )
                break


def _numbered(site: Site, strings: Sequence[Where]) -> Where:
    """The place of a site; a string by its number among those of its file, and their count."""
    kind, file = site.where[:2]
    own = [where for where in strings if where[1] == file]
    return (kind, file, own.index(site.where), len(own)) if kind == "string" else site.where


def _wrong(
    kernel: PortedKernel,
    defines: Mapping[str, Any],
    answer: Mapping[str, Any],
    trees: Mapping[str, ast.Module],
) -> str | None:
    """What differs between a proved kernel and what is launched for a define set; None for nothing."""
    if "error" in answer:
        return str(answer["error"])
    *helpers, wanted = _functions(ast.parse(kernel.text))
    written = _functions(trees[answer["file"]])
    launched = next(one for one in written if one.decorator_list[0].lineno == answer["line"])
    if _body(launched) != _body(wanted):
        return f"{answer['file']}:{answer['line']} is another kernel"
    for helper in helpers:
        if [_body(one) for one in written if one.name == helper.name] != [_body(helper)]:
            return f"{answer['file']} has another '{helper.name}'"
    bound, passed = kernel.bind(defines), answer["passed"]
    for name in bound:
        if repr(passed.get(name)) != repr(bound[name]):
            return f"{name} is {passed.get(name)!r}, not {bound[name]!r}"
    for variant in kernel.variants:
        if variant.defines == defines and (types := _types(kernel, variant.translation)) != answer["types"]:
            return f"the parameters are {answer['types']}, not {types}"
    return None


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def _body(function: ast.FunctionDef) -> str:
    """A function but for its name."""
    return re.sub(r"name='\w+'", "", ast.dump(function), count=1)


def _types(kernel: PortedKernel, translation: Translation) -> dict[str, str | None]:
    """The dtypes of the parameters, with ``*`` for pointers; None for one that a define set lacks."""
    types: dict[str, str | None] = dict.fromkeys(one.identifier for one in kernel.parameters)
    for parameter in translation.parameters:
        pointer = isinstance(parameter.type, PointerType)
        of = parameter.type.element if isinstance(parameter.type, PointerType) else parameter.type
        word = "int64" if isinstance(of, PointerType) else {"int1": "bool"}.get(of.triton, of.triton)
        types[parameter.identifier] = word + "*" * pointer
    return types
