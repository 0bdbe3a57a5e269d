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
    head = [f'"""The kernels of {where}."""', "", *filter(None, imports), "", f"from {dots}_triton import Source"]
    parts = ["\n".join(head), *helpers, *functions]
    tables = ["\n".join(_entry(entry)) for entry in entries]
    if by_name:
        rows = [f'"{entry.kernel}": {entry.name}' for entry in entries]
        tables.append("\n".join(_packed("KERNELS = {", rows, "}  # fmt: skip", 0)))
    return "\n\n\n".join(parts) + "\n\n\n" + "\n\n".join(tables) + "\n"


def _entry(entry: Entry) -> Iterator[str]:
    if len(entry.functions) == 1:
        yield from _source(f"{entry.name} = Source(", entry.functions[0], ")  # fmt: skip", 0)
        return
    yield f"{entry.name} = ("
    for ported in entry.functions:
        yield from _source("    Source(", ported, "),", 4)
    yield ")  # fmt: skip"


def _source(opened: str, ported: PortedKernel, closed: str, indent: int) -> Iterator[str]:
    yield opened
    inner = indent + 4
    pad = " " * inner
    yield f"{pad}{ported.function},"
    rows = [f'"{parameter.identifier}": "{_type(parameter)}"' for parameter in ported.parameters]
    yield from _packed(f"{pad}parameters={{", rows, "},", inner)
    yield from _named("written", ported.writes, inner)
    yield from _named("flags", [c.name for c in ported.constexprs if c.kind == "flag"], inner)
    yield from _served(ported, inner)
    retuned = [parameter.identifier for parameter in ported.parameters if parameter.retune]
    if retuned:
        yield from _named("key", retuned, inner)
    buffers = [f'"{p.identifier}": {p.buffer}' for p in ported.parameters if p.buffer]
    if buffers:
        yield from _packed(f"{pad}buffers={{", buffers, "},", inner)
    yield f"{' ' * indent}{closed}"


_WORDS: Final = {
    "int1": "bool",
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float16": "half",
    "float32": "float",
    "float64": "double",
}


def _type(parameter: KernelParameter) -> str:
    element = parameter.element or parameter.element_define or ""
    return f"{_WORDS.get(element, element)}{'*' * parameter.pointer}"


def _named(name: str, values: Iterable[str], indent: int) -> list[str]:
    return _packed(f"{' ' * indent}{name}=[", [f'"{value}"' for value in values], "],", indent)


# ---------------------------------------------------------------- which defines it is for


_PROMISE: Final = re.compile(r"\b__(?:multipleof|aligned)\s*\([^()]*\)")


def _served(ported: PortedKernel, indent: int) -> Iterator[str]:
    """``serves``: for each condition on the numbers, the values that the other defines may have."""
    pad = " " * indent
    mentioned = set(re.findall(r"[A-Za-z_]\w*", _PROMISE.sub("", ported.source.text)))
    mentioned |= {word for known in ported.sets for word in _words_of(known.defines.values())}
    rows: dict[tuple[str, ...], list[Mapping[str, Sequence[object]]]] = {}
    for family in ported.families:
        values = {name: known for name, known in family.values.items() if name in mentioned}
        rows.setdefault(tuple(_condition(family, mentioned, indent + 4)), []).append(values)
    yield f"{pad}serves=["
    for condition, listed in rows.items():
        yield f"{pad}    ("
        yield from (f"    {line}" for line in condition)
        yield f"{pad}        ["
        for row in listed:
            items = [f'"{name}": {_values(known)}' for name, known in row.items()]
            yield from _packed(f"{pad}            {{", items, "},", indent + 12)
        yield f"{pad}        ],"
        yield f"{pad}    ),"
    yield f"{pad}],"


def _words_of(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield from re.findall(r"[A-Za-z_]\w*", value)


def _condition(family: Family, mentioned: set[str], indent: int) -> Iterator[str]:
    """A function of the numbers. What only promises mention decides nothing: no promise is relied upon."""
    numbers = [name for name in family.numbers if name in mentioned]
    terms = []
    for condition in family.conditions:
        words = set(re.findall(r"[A-Za-z_]\w*", condition))
        if words & set(family.numbers) <= mentioned:
            terms.append(f"({condition})" if " or " in condition or " if " in condition else condition)
            numbers += [name for name in family.values if name in words and name not in numbers]
    head = f"{' ' * indent}lambda {', '.join(numbers)}: ".replace("lambda :", "lambda:")
    line = f"{head}{' and '.join(terms) or 'True'},"
    if len(line) + 4 <= WIDTH:
        yield line
    else:
        separated = [terms[0], *(f"and {term}" for term in terms[1:])]
        yield from _packed(f"{head}(", separated, "),", indent, " ")


def _values(values: Sequence[object]) -> str:
    return f"[{', '.join(_literal(value) for value in values)}]"


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


# ---------------------------------------------------------------- lines


def _packed(
    opened: str, items: Sequence[str], closed: str, indent: int, separator: str = ", "
) -> list[str]:
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
