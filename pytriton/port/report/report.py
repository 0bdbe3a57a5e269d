"""Entries -> a report: a page that needs nothing else, or JSON for other programs."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from pytriton.emit.templates import render
from pytriton.port.notes import Note
from pytriton.port.report.entries import Entry, Grade

__all__ = ["as_html", "as_json", "write_report"]

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
    """What there is of each kind. A text with two kernels counts what they share twice."""
    grades = Counter(entry.grade for entry in entries)
    found = [sets for entry in entries for sets in entry.sets]
    proofs: Counter[str] = Counter()
    for sets in found:
        proofs[sets.proof] += sets.size
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
    fields["sets"] = [sets._asdict() for sets in entry.sets]
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
    """The address of a position: the file, beside the page."""
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

    rows: list[Mapping[str, Any]] = []
    for row in entry.rows:
        old = entry.numbers[row.old_line - 1] if row.old_line else 0
        origin = entry.numbers[row.origin - 1] if row.origin else 0
        rows.append({**row._asdict(), "old_line": old, "origin": origin})
    return {
        **entry._asdict(),
        "id": f"k{number}",
        "rows": rows,
        "columns": list(entry.sets[0].defines) if entry.sets else [],
        "notes": [_linked(note, address(note.place)) for note in entry.notes],
        "launches": [(place, address(place)) for place in entry.launches],
        "address": address(entry.place),
    }
