"""What a run of ``port`` found: sums for the terminal, everything as JSON, old beside new as HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytriton.emit.templates import render
from pytriton.port.report.grade import Grade, Result

__all__ = ["Row", "as_html", "as_json", "summary", "sums", "table", "write_report"]


@dataclass(frozen=True, eq=False)
class Row:
    """A result as the report shows it: its file, and the module it went to (below the output folder)."""

    file: str
    result: Result
    module: str | None
    state: str  # "written", "unchanged", "edited", ""


def sums(rows: Sequence[Row]) -> dict[str, Any]:
    """Kernels by grade, lines, constructs, comments. A text with two kernels counts its lines once."""
    grades = Counter(row.result.grade for row in rows)
    ported = [row.result for row in rows if row.result.written]
    texts = {(row.file, row.result.old): row.result for row in rows}
    constructs: Counter[str] = Counter()
    done: Counter[str] = Counter()
    for key, result in texts.items():
        constructs.update(result.constructs)
        if all(row.result.written for row in rows if (row.file, row.result.old) == key):
            done.update(result.constructs)
    comments = sum(result.comments for result in ported)
    moved = sum(len(result.written.moved) for result in ported if result.written)
    lost = sum(len(result.written.lost) for result in ported if result.written)
    return {
        "kernels": {grade.value: grades[grade] for grade in Grade},
        "files": len({row.file for row in rows}),
        "lines of Triton-C": sum(_lines(result.old) for result in texts.values()),
        "lines of Python": sum(_lines(result.new) for result in ported),
        "constructs": {name: [done[name], count] for name, count in sorted(constructs.items())},
        "comments": {
            "in ported kernels": comments,
            "at their statement": comments - moved,
            "at the head of the module": moved - lost,
            "lost": lost,
        },
    }


def _lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def table(rows: Iterable[Row]) -> str:
    """The terminal's report: a line for each kernel, and its reasons below it."""
    lines: list[str] = []
    for row in rows:
        result = row.result
        target = f" -> {row.module}" if row.module else ""
        state = f" ({row.state})" if row.state == "edited" else ""
        lines.append(f"{row.file}: {result.place}: {result.kernel}: {result.grade.value}{target}{state}")
        for reason in result.reasons:
            code = f" [{reason.code}]" if reason.code else ""
            lines.append(f"    {reason.place}: {reason.text}{code}")
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """The sums in a few lines."""
    counts = sums(rows)
    kernels = ", ".join(f"{count} {grade}" for grade, count in counts["kernels"].items())
    done = sum(count for count, _ in counts["constructs"].values())
    every = sum(count for _, count in counts["constructs"].values())
    comments = counts["comments"]
    return (
        f"{len(rows)} kernels in {counts['files']} files: {kernels}\n"
        f"{counts['lines of Triton-C']} lines of Triton-C, {counts['lines of Python']} lines of Python; "
        f"{done} of {every} constructs are in texts of which every kernel was ported\n"
        f"{comments['in ported kernels']} comments: {comments['at their statement']} at their statement, "
        f"{comments['at the head of the module']} at the head of the module, {comments['lost']} lost"
    )


def as_json(rows: Sequence[Row]) -> str:
    """Everything, for other programs."""
    data = {"sums": sums(rows), "kernels": [_entry(row) for row in rows]}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _entry(row: Row) -> Mapping[str, Any]:
    result = row.result
    return {
        "file": row.file,
        "place": result.place,
        "kernel": result.kernel,
        "grade": result.grade.value,
        "module": row.module,
        "reasons": [
            {"place": reason.place, "text": reason.text, "code": reason.code} for reason in result.reasons
        ],
        "constructs": dict(result.constructs),
        "old": result.old,
        "new": result.new,
    }


def as_html(rows: Sequence[Row]) -> str:
    """One page that needs nothing else."""
    return render(
        "report.html.j2",
        sums=sums(rows),
        entries=[_entry(row) for row in rows],
        grades=[grade.value for grade in Grade],
    )


def write_report(path: Path, rows: Sequence[Row]) -> None:
    """The report in the form that the file's suffix asks for."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_json(rows) if path.suffix == ".json" else as_html(rows), encoding="utf-8")
