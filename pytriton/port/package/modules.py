"""The kernels of one text or file -> a module of the package.

Input: ported kernels, each with the name of its source. Output: the text of the module: the functions as the fold
printed them, then a ``Source`` for each, with what its signature cannot say. ``ruff format`` leaves it alone.

Invariant: functions and sources of a module have different names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytriton.emit.printer import WIDE
from pytriton.emit.templates import render
from pytriton.fold.fold import filled
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.declared import declared
from pytriton.port.package.edits import LAUNCHER, Replacement

SKIP: Final = "  # fmt: skip"
BETWEEN: Final = "\n\n\n"  # functions of a module


@dataclass(frozen=True)
class ModuleKernel:
    """The kernel of a text, and the names of its source and of its function in the module."""

    name: str
    kernel: PortedKernel
    function: str


def source_name(function: str) -> str:
    """``DOT`` for the function ``dot``."""
    return function.upper() if function.upper() != function else f"{function}_SOURCE"


def module(
    where: str, entries: Sequence[ModuleKernel], dots: str | None = "..", addresses: bool = False
) -> str:
    """The source of the module.

    ``where``: the ported file; ``dots``: where the launcher is, if there is one; ``addresses``: that it may get.
    """
    imports: dict[str, None] = {}
    helpers: dict[str, None] = {}
    functions: list[str] = []
    for entry in entries:
        head, *parts = entry.kernel.text.rstrip("\n").split(BETWEEN)
        imports |= dict.fromkeys(line for line in head.splitlines() if line and line[0] != "#")
        helpers |= dict.fromkeys(parts[:-1])
        functions.append(named(parts[-1], entry.function))
    return render(
        "port_kernels.py.j2",
        where=where,
        imports=imports,
        launcher=f"{dots}{LAUNCHER}",
        functions=[*helpers, *functions],
        sources=[_source(entry, addresses) for entry in entries] if dots else [],
    )


def _source(entry: ModuleKernel, addresses: bool) -> list[str]:
    """``DOT = Source(...)``, on one line if that fits."""
    values = declared(entry.kernel)
    left_out = () if addresses or values["nulls"] else ("types",)
    fields = (f"{name}={value!r}" for name, value in values.items() if value and name not in left_out)
    inside = ", ".join([entry.function, *fields]).replace("'", '"')
    line = f"{entry.name} = Source({inside})"
    if len(line) <= WIDE - len(SKIP):
        return [line + SKIP]
    rows = (f"    {row}" for row in filled(inside, WIDE - 4))
    return [f"{entry.name} = Source(", *rows, f"){SKIP}"]


def named(text: str, name: str) -> str:
    """The text of a function with another name."""
    return re.sub(r"^def \w+", f"def {name}", text, flags=re.MULTILINE)


_TRUTH: Final = re.compile(r" [&|] |tl\.full\(.*(?<!True), tl\.int1\)")


def table(texts: Mapping[str, tuple[Replacement, str]], kernels: Iterable[PortedKernel]) -> str:
    """The ``__init__`` of the modules: the sources by the digests of their texts, and where these are.

    It corrects Triton's interpreter for kernels that may make a block of one comparison.
    """
    rows = [(of, name.module.rpartition(".")[2], name.name, where) for of, (name, where) in texts.items()]
    return render("port_table.py.j2", texts=rows, truth=any(_TRUTH.search(kernel.text) for kernel in kernels))
