"""The kernels of one text or file -> a module of the package.

Input: ported kernels, each with the name of its source. Output: the text of the module: the functions as the fold
printed them, then a ``Source`` for each, with what its text declared. ``ruff format`` leaves it alone.

Invariant: functions and sources of a module have different names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill, wrap
from typing import Final

from pytriton.fold.leaves import literal
from pytriton.passes.speed.swizzle import GROUP
from pytriton.port.kernels import PortedKernel
from pytriton.port.package.edits import LAUNCHER, Replacement
from pytriton.port.package.serves import Change, ConditionLambda, serves

WIDTH: Final = 88  # what ruff format allows a line


@dataclass(frozen=True)
class ModuleKernel:
    """The kernel of a text; several functions where it could not be one. ``name`` is that of its source.

    ``names`` are those of the functions in the module.
    """

    name: str
    functions: tuple[PortedKernel, ...]
    names: tuple[str, ...]


def source_name(function: str) -> str:
    """``DOT`` for the function ``dot``."""
    return function.upper() if function.upper() != function else f"{function}_SOURCE"


def module(where: str, entries: Sequence[ModuleKernel], dots: str = "..") -> str:
    """The source of the module. ``where``: the ported file; ``dots``: where the launcher is."""
    imports: dict[str, None] = {}
    helpers: dict[str, None] = {}
    functions: list[str] = []
    for entry in entries:
        for ported, name in zip(entry.functions, entry.names, strict=True):
            head, *parts = ported.text.rstrip("\n").split("\n\n\n")
            imports |= dict.fromkeys(line for line in head.splitlines() if line and line[0] != "#")
            helpers |= dict.fromkeys(parts[:-1])
            functions.append(named(parts[-1], name))
    tables = "\n\n".join("\n".join(_entry(entry)) for entry in entries)
    top = [
        f'"""The kernels of {where}."""',
        "",
        *imports,
        "",
        f"from {dots}{LAUNCHER} import Source",
    ]
    return "\n\n\n".join(["\n".join(top), *helpers, *functions, tables]) + "\n"


def named(text: str, name: str) -> str:
    """The text of a function with another name."""
    return re.sub(r"^def \w+", f"def {name}", text, flags=re.MULTILINE)


def table(labels: Mapping[str, Replacement]) -> str:
    """The ``__init__`` of the modules: the kernels of sources that are not strings of the code."""
    lines = [
        '"""The kernels of this package{}."""'.format(", and the texts that stand for them" * bool(labels))
    ]
    if labels:
        modules = sorted({name.module.rpartition(".")[2] for name in labels.values()})
        lines += ["", f"from . import {', '.join(modules)}", "", "TEXTS = {"]
        for label, name in labels.items():
            parts = wrap(label, WIDTH - 8, drop_whitespace=False)
            keys = [repr(part) if '"' in part else f'"{repr(part)[1:-1]}"' for part in parts]
            lines += [f"    {key}" for key in keys]
            lines[-1] += f": {name.module.rpartition('.')[2]}.{name.name},"
        lines.append("}")
    return "\n".join(lines) + "\n"


def _entry(entry: ModuleKernel) -> Iterator[str]:
    if len(entry.functions) == 1:
        yield from _source(f"{entry.name} = Source(", entry.functions[0], entry.names[0], ")  # fmt: skip", 0)
        return
    yield f"{entry.name} = Source.either("
    for ported, name in zip(entry.functions, entry.names, strict=True):
        yield from _source("    Source(", ported, name, "),", 4)
    yield ")  # fmt: skip"


def _source(opened: str, ported: PortedKernel, name: str, closed: str, indent: int) -> Iterator[str]:
    yield opened
    inner = indent + 4
    pad = " " * inner
    yield f"{pad}{name},"
    serving = serves(ported)
    yield from _packed(f"{pad}types={{", list(_types(ported, serving.types)), "},", inner)
    if ported.arguments:
        yield from _named("integers", ported.arguments.names.values(), inner)
        yield from _named("named", ported.arguments.identifiers, inner)
    if serving.changes:
        yield f"{pad}changes=["
        for change in serving.changes:
            yield from _change(change, inner + 4)
        yield f"{pad}],"
    leaves = ported.folded.leaves
    yield from _named("flags", [name for name in leaves.flags if name not in leaves.truths], inner)
    truths = [f'"{name}": {list(values)}' for name, values in leaves.truths.items()]
    if truths:
        yield from _packed(f"{pad}truths={{", truths, "},", inner)
    yield from _named("numbers", serving.numbers, inner)
    if serving.condition.terms:
        yield from _condition("serves=", serving.condition, inner)
    yield from _named("closed", serving.closed, inner)
    yield from _named("unused", serving.unused, inner)
    yield from _named("key", [p.identifier for p in ported.parameters if p.retune], inner)
    if ported.stages:
        yield f"{pad}stages={list(ported.stages)},"
    if ported.folded.grouped:
        yield f"{pad}groups=[{GROUP}],"
    buffers = [f'"{p.identifier}": {p.buffer}' for p in ported.parameters if p.buffer]
    if buffers:
        yield from _packed(f"{pad}buffers={{", buffers, "},", inner)
    yield f"{' ' * indent}{closed}"


def _types(ported: PortedKernel, types: Mapping[str, str]) -> Iterator[str]:
    """``"const TYPE*": "A B"``; without those that are int."""
    named: dict[str, list[str]] = {}
    for name, written, *_ in ported.parameters:
        unwritten = types[name].endswith("*") and not written
        named.setdefault("const " * unwritten + types[name], []).append(name)
    yield from (f'"{type_}": "{" ".join(names)}"' for type_, names in named.items() if type_ != "int")


def _named(name: str, values: Collection[str], indent: int) -> Iterator[str]:
    """A list of names; nothing for none."""
    if values:
        yield from _packed(f"{' ' * indent}{name}=[", [f'"{value}"' for value in values], "],", indent)


def _change(change: Change, indent: int) -> Iterator[str]:
    """``(lambda DX=None, DW=None, **_: DX or DW, {"BIAS": None}),``."""
    pad = " " * indent
    types = [f'"{name}": {literal(type_)}' for name, type_ in change.types.items()]
    head, line = list(_condition("", change.condition, 0)), f"{{{', '.join(types)}}}"
    if len(head) == 1 and len(whole := f"{pad}({head[0]} {line}),") <= WIDTH:
        yield whole
        return
    yield f"{pad}("
    yield from _condition("", change.condition, indent + 4)
    yield from _packed(f"{pad}    {{", types, "},", indent + 4)
    yield f"{pad}),"


def _condition(name: str, condition: ConditionLambda, indent: int) -> Iterator[str]:
    names = [f"{name}=None" for name in condition.names]
    head = f"{' ' * indent}{name}lambda {', '.join([*names, '**_'])}: "
    line = f"{head}{' and '.join(condition.terms)},"
    if len(line) <= WIDTH:
        yield line
        return
    # a line may end before an operator, a bracket, or the next entry of a list
    separated = re.findall(r'(?:"[^"]*"|[^" ]|(?<!,) (?!and |or |\())+', " and ".join(condition.terms))
    opened = fill(f"{head}(", WIDTH, subsequent_indent=" " * (indent + 8))
    yield from _packed(opened, separated, "),", indent, " ")


# ---------------------------------------------------------------- lines


def _packed(opened: str, items: Sequence[str], closed: str, indent: int, separator: str = ", ") -> list[str]:
    """On one line if that fits, else as many items a line as fit."""
    line = f"{opened}{separator.join(items)}{closed}"
    if len(line) <= WIDTH:
        return [line]
    lines = [opened]
    current = " " * indent + "   "
    for item in items:
        shown = item + separator.strip()
        if current.strip() and len(current) + 1 + len(shown) > WIDTH:
            lines.append(current)
            current = " " * indent + "   "
        current += f" {shown}"
    return [*lines, current, f"{' ' * indent}{closed}"]
