"""What a person should know of a text: remarks on what was ported, and reasons where something was not.

Input: a ``PortedText``. Output: notes, each with the position of a file that a terminal or a browser can open
(``ops/add.py:28``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pytriton.command_line import with_options
from pytriton.emit.python import show
from pytriton.errors import Diagnostic, Report, counted
from pytriton.fold.variants import asked_names
from pytriton.lang.tokens import tokenize
from pytriton.port.jobs.folds import Failure
from pytriton.port.kernels import PortedKernel
from pytriton.port.ported import PortedText
from pytriton.port.read.extract import Found
from pytriton.source import Source, Span

_UNKNOWN_NAMES: Final = ("TC203", "TC301", "TC305", "TC201")  # which a define may stand for
MAX_DIAGNOSTICS: Final = 3
MAX_CONDITION: Final = 1000  # characters of what a kernel accepts, which is more than a person reads


class Note(NamedTuple):
    """Where, what, and the code of the diagnostic if there is one."""

    place: str
    text: str
    code: str | None = None

    def __str__(self) -> str:
        code = f" [{self.code}]" if self.code else ""
        return f"{self.place}: {self.text}{code}"


def shown_path(path: Path, root: Path) -> str:
    """A file below the root; of another its name."""
    resolved = path.resolve()
    return (
        resolved.relative_to(root.resolve()).as_posix()
        if resolved.is_relative_to(root.resolve())
        else path.name
    )


def position(extracted: Found, line: int, root: Path, file: Path | None = None) -> str:
    """A line of the file that contains the source, or of another."""
    path = file or extracted.path
    return f"{shown_path(path, root)}:{line}"


def first_line(extracted: Found) -> int:
    """The first line of a source in its file."""
    return extracted.text.line_at(len(extracted.text) - len(extracted.text.lstrip()))


def launched(text: PortedText) -> set[tuple[Path, int]]:
    """The files and lines where the kernels of a text are launched, as far as reading has seen."""
    return {(use.file.resolve(), use.line) for use in text.job.uses if use.line}


def launches(text: PortedText, root: Path) -> list[str]:
    """Where the kernels of a text are launched, or made in a run, as the report shows it."""
    places = launched(text).union((launch.file, launch.line) for launch in text.observed if launch.line)
    shown = {(shown_path(file, root), line) for file, line in places}
    return [f"{file}:{line}" for file, line in sorted(shown)]


def remarks(text: PortedText, kernel: PortedKernel, root: Path) -> list[Note]:
    """Notes on a ported kernel."""
    here = position(text.extracted, first_line(text.extracted), root)
    notes = [
        Note(position(text.extracted, line, root, file), remark)
        for file, line, remark in dict.fromkeys(text.job.notes)
    ]
    if not launches(text, root):
        notes.append(
            Note(here, "no launch of it was found: its defines are those of the source alone, and of -D")
        )
    failures = [failure for failure in kernel.failures if not failure.alone]
    counts = Counter(failure.error.diagnostics[0].message for failure in failures)
    firsts = {failure.error.diagnostics[0].message: failure for failure in reversed(failures)}
    for message, count in counts.items():
        first = firsts[message].error.diagnostics[0]
        reason = f"{counted(count, 'define set')} cannot be translated: {message}"
        notes.append(Note(_of_diagnostic(text, first, root), reason, first.code))
    left_out = sorted(
        asked_names(kernel.own_text).intersection(kernel.folded.leaves.closed) - {*kernel.constants}
    )
    if left_out:
        reason = (
            f"a launch with {' or '.join(left_out)} is refused: add it with -D, or with a --run that has it"
        )
        notes.append(Note(here, reason))
    if any(len(show(condition)) > MAX_CONDITION for condition in kernel.folded.leaves.accepted):
        reason = (
            "defines are accepted in the combinations that were proved: a --run that launches more adds them"
        )
        notes.append(Note(here, reason))
    lost = [
        comment
        for comment in comments(text.source.text)
        if not any(comment in kernel.text for kernel in text.kernels)
    ]
    if lost:
        notes.append(Note(here, f"comments that no ported kernel has: {'; '.join(lost)}"))
    return notes


def comments(source: str) -> list[str]:
    """The comments of a text, a line each, without their decoration; empty ones do not count."""
    rows = [
        row.strip().lstrip("*/!").strip().rstrip("*").rstrip()
        for token in tokenize(Source(source), Report())
        for comment in token.comments
        for row in comment.text.splitlines()
    ]
    return [row for row in rows if any(map(str.isalnum, row))]


def reasons(text: PortedText, failures: tuple[Failure, ...], root: Path) -> list[Note]:
    """Why a kernel was not ported: the unknown defines of the source, and the diagnostics of a define set."""
    extracted = text.extracted
    here = position(extracted, first_line(extracted), root)
    notes = [Note(here, extracted.problem)] if extracted.problem else []
    if not failures:
        return notes or [Note(here, "no define set of it is known")]
    best = min(failures, key=lambda failure: len(failure.error.diagnostics)).error.diagnostics
    for diagnostic in best[:MAX_DIAGNOSTICS]:
        message = f"{diagnostic.message}; {diagnostic.help}" if diagnostic.help else diagnostic.message
        notes.append(Note(_of_diagnostic(text, diagnostic, root), with_options(message), diagnostic.code))
    if best[0].code in _UNKNOWN_NAMES:
        notes += dict.fromkeys(_unknown(text, here, root))
    return notes


def _unknown(text: PortedText, here: str, root: Path) -> Iterator[Note]:
    """Notes on unknown defines."""
    for use in text.job.uses:
        place = position(text.extracted, use.line, root, use.file)
        if use.dark is not None:
            yield Note(place, f"its defines come from '{use.dark[:60]}', not known here")
        for name, value in use.open.items():
            if value.kind is None:
                yield Note(
                    place,
                    f"the define {name} is '{value.text[:60]}', only known at run time: use --run",
                )
    if not launches(text, root):
        yield Note(here, "no launch of it was found: give its defines with -D NAME=VALUE")


def _of_diagnostic(text: PortedText, diagnostic: Diagnostic, root: Path) -> str:
    """Where a diagnostic points, in the file that holds the text."""
    row = diagnostic.where.line if isinstance(diagnostic.where, Span) else 1
    return position(text.extracted, line_numbers(text)[row - 1], root)


def line_numbers(text: PortedText) -> list[int]:
    """For each line of a source the line of the file."""
    starts = [0, *(match.end() for match in re.finditer("\n", text.extracted.text))]
    return [text.extracted.text.line_at(start) for start in starts]
