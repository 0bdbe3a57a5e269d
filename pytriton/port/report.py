"""The report, as a page that needs nothing else or as JSON.

For each kernel its grade, its notes, its define sets with how each was found:

ported        every known define set is proved: the same program (TTIR)
with notes    no difference is known, and there are notes
needs person  some define set is another program, or Triton refuses it
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from pytriton.emit.templates import render
from pytriton.port.kernels import KnownDefines, PortedKernel, Proof
from pytriton.port.notes import Note, first_line, launches, line_numbers, position, remarks
from pytriton.port.package.modules import named
from pytriton.port.package.package import Package, Placed
from pytriton.port.ported import PortedText


class Grade(Enum):
    """How a kernel came through."""

    PORTED = "ported"
    NOTES = "ported with notes"
    PERSON = "needs manual work"


class Row(NamedTuple):
    """A line of each text with its number, 0 where there is none; ``origin`` is the old line of the new one."""

    old_line: int
    old: str
    new_line: int
    new: str
    origin: int


class Entry(NamedTuple):
    """One function. ``lines``: of the old text and of the new one, empty lines aside."""

    name: str
    place: str
    module: str
    grade: Grade
    lines: tuple[int, int]
    rows: tuple[Row, ...]
    numbers: tuple[int, ...]  # of each line of the old text, in its file
    notes: tuple[Note, ...]
    launches: tuple[str, ...]
    sets: tuple[KnownDefines, ...]
    is_proved: bool
    summary: str
    differences: tuple[str, ...]
    old: str
    new: str


def entries(texts: Sequence[PortedText], package: Package, root: Path) -> list[Entry]:
    """All functions of the port."""
    placed = {id(placed.kernel): placed for placed in package.placed}
    return [
        _entry(text, placed[id(kernel)], package, root)
        for text in texts
        for kernel in text.kernels
        if id(kernel) in placed
    ]


def _entry(text: PortedText, placed: Placed, package: Package, root: Path) -> Entry:
    numbers, kernel = tuple(line_numbers(text)), placed.kernel
    written = (package.files[placed.module] or b"").decode()
    function = named(kernel.text.rstrip("\n").rpartition("\n\n\n")[2], placed.function)
    first = written[: written.find(function)].count("\n") + 1
    declared = declaration_line(kernel)
    line = numbers[declared - 1] if declared else first_line(text.extracted)
    proof = kernel.proof
    notes = tuple(remarks(text, kernel, root))
    grade = Grade.PERSON if proof and proof.wrong else Grade.NOTES if notes or not proof else Grade.PORTED
    old = kernel.own_text
    return Entry(
        placed.function,
        position(text.extracted, line, root),
        placed.module,
        grade,
        (count(old), count(kernel.text)),
        tuple(rows(kernel, first)),
        numbers,
        notes,
        tuple(launches(text, root)),
        kernel.sets,
        proof is not None,
        kernel.summary(),
        tuple(_differences(proof)),
        old,
        kernel.text,
    )


def count(text: str) -> int:
    """The lines of a text that are not empty."""
    return len([*filter(str.strip, text.splitlines())])


def declaration_line(kernel: PortedKernel) -> int:
    """The line of the source that declares the kernel; 0 if a define names it and there are several."""
    lines = kernel.own_text.splitlines()
    declarations = [number for number, line in enumerate(lines, 1) if re.search(r"\bvoid\s+\w+\s*\(", line)]
    return declarations[0] if len(declarations) == 1 else 0


def rows(kernel: PortedKernel, first: int = 1) -> Iterator[Row]:
    """The old text and the kernel's function from their tops; ``first`` is the function's line in its module.

    Of several empty lines of the old text, where other kernels were, only the first is shown.
    """
    lines = kernel.own_text.rstrip().splitlines()
    old = [at for at, line in enumerate(lines) if line.strip() or (at and lines[at - 1].strip())]
    head, _, function = kernel.text.rstrip("\n").rpartition("\n\n\n")
    before = head.count("\n") + 3  # lines of the kernel's text that are not shown
    new = zip(function.splitlines(), kernel.folded.lines[before:], strict=True)
    for at, (place, pair) in enumerate(zip_longest(old, new)):
        text, origin = pair or ("", 0)
        left = (0, "") if place is None else (place + 1, lines[place])
        yield Row(*left, first + at if pair else 0, text, origin if 0 < origin <= len(lines) else 0)


def _differences(proof: Proof | None) -> Iterator[str]:
    for difference in proof.wrong if proof else ():
        yield f"{dict(difference.defines)}"
        yield from (f"    {line}" for line in difference.lines)


# ---------------------------------------------------------------- the page, and JSON

_POSITION: Final = re.compile(r"(.+?):(\d+)$")


def write_report(path: Path, root: Path, entries: Sequence[Entry], problems: Sequence[Note]) -> None:
    """The report in the form that the file's suffix asks for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        text = as_json(entries, problems)
    else:
        text = as_html(root.name, entries, problems, Path(os.path.relpath(root, path.parent)))
    path.write_text(text, encoding="utf-8")


def sums(entries: Sequence[Entry], problems: Sequence[Note]) -> dict[str, Any]:
    """Totals by kind. Lines that two kernels of a source share count twice."""
    grades = Counter(entry.grade for entry in entries)
    proofs: Counter[str] = Counter()
    for entry in entries:
        proofs["TTIR" if entry.is_proved else "not tried"] += len(entry.sets)
    return {
        "kernels": {grade.value: grades[grade] for grade in Grade},
        "not ported": len(problems),
        "lines of Triton-C": sum(entry.lines[0] for entry in entries),
        "lines of Python": sum(entry.lines[1] for entry in entries),
        "define sets": dict(proofs),
    }


def as_json(entries: Sequence[Entry], problems: Sequence[Note]) -> str:
    """Everything, for other programs."""
    data = {
        "sums": sums(entries, problems),
        "kernels": [_plain(entry) for entry in entries],
        "problems": [note._asdict() for note in problems],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _plain(entry: Entry) -> dict[str, Any]:
    fields = entry._asdict() | {"grade": entry.grade.value}
    del fields["rows"], fields["numbers"]
    fields["notes"] = [note._asdict() for note in entry.notes]
    fields["sets"] = [dict(known.defines) for known in entry.sets]
    return fields


def as_html(name: str, entries: Sequence[Entry], problems: Sequence[Note], root: Path) -> str:
    """The page. ``root``: the way from the page to the package, for links to its files."""
    return render(
        "report.html.j2",
        name=name,
        sums=sums(entries, problems),
        entries=[_shown(entry, number, root) for number, entry in enumerate(entries, 1)],
        problems=[_linked(note, _of_file(note.place, root)) for note in problems],
    )


def _of_file(place: str, root: Path) -> str:
    """The address of a position: the file, relative to the page."""
    match = _POSITION.match(place)
    file, line = (match[1], f"#L{match[2]}") if match else (place.partition(": ")[0], "")
    return quote((root / file).as_posix()) + line


def _linked(note: Note, address: str) -> Mapping[str, Any]:
    return {**note._asdict(), "address": address}


def _shown(entry: Entry, number: int, root: Path) -> Mapping[str, Any]:
    """An entry for the template: positions with addresses, lines with the numbers that they have in their file."""
    file = entry.place.rpartition(":")[0]
    here = {f"{file}:{line}": f"#k{number}-{line}" for line in entry.numbers}

    def address(place: str) -> str:
        return here.get(place) or _of_file(place, root)

    numbers = (0, *entry.numbers)  # a row without a line has line 0
    rows = [
        {**row._asdict(), "old_line": numbers[row.old_line], "origin": numbers[row.origin]}
        for row in entry.rows
    ]
    return {
        **entry._asdict(),
        "id": f"k{number}",
        "rows": rows,
        "notes": [_linked(note, address(note.place)) for note in entry.notes],
        "launches": [(place, address(place)) for place in entry.launches],
        "address": address(entry.place),
    }
