"""The kernels of one text or file -> a module of the package.

Input: ported kernels, each with the name that the launcher knows it by. Output: the text of the module: the functions
as the fold printed them, then a ``Source`` for each, which says what its text declared. ``ruff format`` leaves it alone.

Invariant: functions and sources of a module have different names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pytriton.fold.known import Family
from pytriton.port.kernels import KernelParameter, PortedKernel

__all__ = ["Entry", "module", "source_name"]

WIDTH: Final = 88  # what ruff format allows a line


@dataclass(frozen=True)
class Entry:
    """A kernel of a text; several functions where it could not be one. ``name`` is that of its source."""

    name: str
    kernel: str
    functions: tuple[PortedKernel, ...]


def source_name(function: str) -> str:
    """``DOT`` for the function ``dot``."""
    return function.upper() if function.upper() != function else f"{function}_SOURCE"


def module(where: str, dots: str, entries: Sequence[Entry], by_name: bool) -> str:
    """The text. ``where``: what it was ported from; ``by_name``: its kernels are looked up by their names."""
    imports: dict[str, None] = {}
    helpers: dict[str, None] = {}
    functions: list[str] = []
    for entry in entries:
        for ported in entry.functions:
            head, *parts = ported.text.rstrip("\n").split("\n\n\n")
            imports |= dict.fromkeys(line for line in head.splitlines() if not line.startswith("#"))
            helpers |= dict.fromkeys(parts[:-1])
            functions.append(parts[-1])
    head = [f'"""The kernels of {where}."""', "", *imports, "", f"from {dots}_triton import Source"]
    parts = ["\n".join(head), *helpers, *functions]
    tables = ["\n".join(_entry(entry)) for entry in entries]
    if by_name:
        rows = [f'"{entry.kernel}": {entry.name}' for entry in entries]
        tables.append("\n".join(_bracketed("KERNELS = {", rows, "}", 0)))
    return "\n\n\n".join(parts) + "\n\n\n" + "\n\n".join(tables) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if len(entry.functions) == 1:
        yield from _source(f"{entry.name} = Source(", entry.functions[0], ")", 0)
        return
    yield f"{entry.name} = ("
    for ported in entry.functions:
        yield from _source("    Source(", ported, "),", 4)
    yield ")"


def _source(opened: str, ported: PortedKernel, closed: str, indent: int) -> Iterator[str]:
    yield opened
    inner = indent + 4
    pad = " " * inner
    yield f"{pad}{ported.function},"
    parameters = {parameter.identifier: _type(parameter) for parameter in ported.parameters}
    rows = [f'"{name}": "{type_}"' for name, type_ in parameters.items()]
    yield from _bracketed(f"{pad}parameters={{", rows, "},", inner)
    yield from _named("written", ported.writes, inner)
    flags = [constexpr.name for constexpr in ported.constexprs if constexpr.kind == "flag"]
    yield from _named("flags", flags, inner)
    yield f"{pad}serves=["
    for family in ported.families:
        yield from _family(family, inner + 4)
    yield f"{pad}],"
    retuned = [parameter.identifier for parameter in ported.parameters if parameter.retune]
    if retuned:
        yield from _named("key", retuned, inner)
    buffers = [f'"{p.identifier}": {p.buffer}' for p in ported.parameters if p.buffer]
    if buffers:
        yield from _bracketed(f"{pad}buffers={{", buffers, "},", inner)
    yield f"{' ' * indent}{closed}"


def _type(parameter: KernelParameter) -> str:
    element = parameter.element or parameter.element_define or ""
    return f"{'bool' if element == 'int1' else element}{'*' * parameter.pointer}"


def _named(name: str, values: Iterable[str], indent: int) -> list[str]:
    return _bracketed(f"{' ' * indent}{name}=[", [f'"{value}"' for value in values], "],", indent)


def _family(family: Family, indent: int) -> Iterator[str]:
    """One row of ``serves``: the values of some defines, and the condition on the numbers."""
    pad = " " * indent
    yield f"{pad}("
    rows = [f'"{name}": {_values(values)}' for name, values in family.values.items()]
    yield from _bracketed(f"{pad}    {{", rows, "},", indent + 4)
    yield from _condition(family, indent + 4)
    yield f"{pad}),"


def _condition(family: Family, indent: int) -> Iterator[str]:
    conditions = [condition for condition in family.conditions]
    mentioned = {word for condition in conditions for word in re.findall(r"[A-Za-z_]\w*", condition)}
    names = [*family.numbers, *(name for name in family.values if name in mentioned)]
    head = f"{' ' * indent}lambda {', '.join(names)}: ".replace("lambda :", "lambda:")
    if not conditions:
        yield f"{head}True,"
        return
    terms = [f"({term})" if " or " in term or " if " in term else term for term in conditions]
    line = f"{head}{' and '.join(terms)},"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{head}("
    yield f"{' ' * indent}    {terms[0]}"
    yield from (f"{' ' * indent}    and {term}" for term in terms[1:])
    yield f"{' ' * indent}),"


def _values(values: Sequence[object]) -> str:
    return f"[{', '.join(_literal(value) for value in values)}]"


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _bracketed(opened: str, items: Sequence[str], closed: str, indent: int) -> list[str]:
    """On one line if that fits, else an item a line."""
    line = f"{opened}{', '.join(items)}{closed}"
    if len(line) <= WIDTH:
        return [line]
    return [opened, *(f"{' ' * indent}    {item}," for item in items), f"{' ' * indent}{closed}"]
