"""Ported kernels -> pytest files that compare each with its old text on the same random memory.

Input: where each kernel went (``Placed``). Output: a file for each module of kernels; they are in a folder next to
the ported one, and skip where pytriton is not installed. ``runtime/compare.py`` does the work.

The define sets that are compared: of each combination of flags, texts and types one with small blocks, since the
interpreter is slow.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from pathlib import PurePosixPath
from typing import Any, Final

from pytriton.emit.printer import WIDTH
from pytriton.emit.templates import render
from pytriton.fold.leaves import literal
from pytriton.fold.variants import number
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.package import Placed
from pytriton.port.read.extract import MARK

MAX_CASES: Final = 8  # of one kernel


def comparisons(folder: str, placed: Sequence[Placed]) -> dict[str, bytes]:
    """The files by their names. ``folder``: that of the ported kernels' package, next to theirs."""
    modules: dict[str, list[Placed]] = {}
    for placement in placed:
        modules.setdefault(placement.module, []).append(placement)
    return {
        f"test_{PurePosixPath(module).stem}.py": _file(folder, module, of).encode()
        for module, of in modules.items()
    }


def _file(folder: str, module: str, placed: Sequence[Placed]) -> str:
    path = PurePosixPath(module)
    texts = {placement.kernel.own_text: "" for placement in placed}
    texts = {text: f"TEXT_{count}" if len(texts) > 1 else "TEXT" for count, text in enumerate(texts, 1)}
    rows: list[str] = []
    for placement in placed:
        for defines in chosen(placement.kernel):
            kernel = json.dumps(placement.kernel.kernel) if placement.kernel.kernel else "None"
            rows += _row(
                [json.dumps(placement.source), texts[placement.kernel.own_text], kernel, _dict(defines)]
            )
    return render(
        "port_test.py.j2",
        mark=MARK,
        folder=(PurePosixPath(folder) / path.parent).as_posix(),
        module=path.stem,
        texts=[(name, _literal(text)) for text, name in texts.items()],
        rows=rows,
        strict=", strict_literals=True" * any(placement.strict for placement in placed),
        sizes=sizes_of(placed),
    )


def sizes_of(placed: Sequence[Placed]) -> list[int]:
    """Values of integer parameters: a power of 2 and an odd number, within constant buffers.

    A buffer is assumed to hold 4-byte words, as many as some parameter counts.
    """
    words = [
        parameter.buffer // 4
        for placement in placed
        for parameter in placement.kernel.parameters
        if parameter.buffer
    ]
    return [min([16, *words]), min([7, *words])]


def chosen(kernel: PortedKernel) -> list[Mapping[str, Any]]:
    """Define sets to compare, from all over the kernel."""
    smallest: dict[str, Mapping[str, Any]] = {}
    for defines in sorted((defines.defines for defines in kernel.sets), key=_elements):
        others = {name: value for name, value in defines.items() if not isinstance(number(value), int)}
        smallest.setdefault(repr(sorted(others.items())), defines)
    every = list(smallest.values())
    return every[:: -(-len(every) // MAX_CASES)]


def _elements(defines: Mapping[str, Any]) -> int:
    """How large the blocks of a define set are, roughly."""
    return prod(max(1, value) for value in map(number, defines.values()) if isinstance(value, int))


def _row(parts: Sequence[str]) -> Iterator[str]:
    """A case on one line if it fits, else an entry a line; broken dicts are indented with it."""
    line = f"    ({', '.join(parts)}),"
    if len(line) <= WIDTH and "\n" not in line:
        yield line
        return
    yield from ("    (", *(f"        {part}," for part in parts), "    ),")


def _dict(values: Mapping[str, Any]) -> str:
    """A dict on one line if it fits, else an entry a line."""
    entries = [f"{json.dumps(name)}: {literal(value)}" for name, value in values.items()]
    line = "{" + ", ".join(entries) + "}"
    if len(line) + len("        ,") <= WIDTH:
        return line
    return "{\n" + "".join(f"            {entry},\n" for entry in entries) + "        }"


def _literal(source: str) -> str:
    """The text as a literal that ``ruff format`` keeps."""
    body = source.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if body.endswith('"'):
        body = body[:-1] + '\\"'
    return f'"""{body}"""'
