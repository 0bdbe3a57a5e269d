"""What can go wrong, and how it is said.

A ``Diagnostic`` is one finding with a severity, a stable code, a span and a cure; ``render`` prints it with
the source line and a caret. A ``Report`` collects the findings of one translation, so that all errors of a
kernel are shown at once. The exceptions::

    PytritonError
    ├── CompileError            .diagnostics: what was found
    │   ├── PreprocessError     directives and macros             TC1xx
    │   ├── ParseError          characters, tokens and syntax     TC0xx, TC2xx
    │   ├── CheckError          names, types, shapes, constants   TC3xx
    │   └── UnsupportedError    what cannot be translated         TC4xx
    ├── LaunchError             wrong use of a kernel object      TC5xx
    └── TuneError               no candidate of a sweep is left   TC6xx
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NoReturn

from pytriton.source import Expansion, Source, Span

__all__ = [
    "CheckError",
    "CompileError",
    "Diagnostic",
    "LaunchError",
    "ParseError",
    "PreprocessError",
    "PytritonError",
    "Report",
    "TuneError",
    "UnsupportedError",
]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``where`` is a span, or only a source where there is no position."""

    severity: Severity
    code: str
    message: str
    where: Span | Source
    notes: tuple[str | tuple[str, Span], ...] = ()
    help: str | None = None

    def render(self) -> str:
        """The text as a user reads it, without a final line break."""
        lines = _headline(self.severity, self.message, self.where, self.code)
        if isinstance(self.where, Span):
            lines += [f"note: expanded from {step}" for step in _expansions(self.where.expansion)]
        for note in self.notes:
            if isinstance(note, str):
                lines.append(f"note: {note}")
            else:
                lines += _headline("note", note[0], note[1], None)
        if self.help:
            lines.append(f"help: {self.help}")
        return "\n".join(lines)


def _headline(severity: str, message: str, where: Span | Source, code: str | None) -> list[str]:
    tail = f" [{code}]" if code else ""
    if isinstance(where, Source):
        return [f"{_shown(where)}: {severity}: {message}{tail}"]
    line, column = where.source.position(where.start)
    first = f"{_shown(where.source)}:{line}:{column}: {severity}: {message}{tail}"
    return [first, *_snippet(where, line, column)]


def _shown(source: Source) -> str:
    return f"{source.name} ({source.origin})" if source.origin else source.name


_WIDEST_LINE = 160


def _snippet(span: Span, line: int, column: int) -> list[str]:
    """The source line and a caret line; a very long line is cut to the part around the caret."""
    text = "".join(char if char.isprintable() else " " for char in span.source.line(line))
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    start = max(0, column - 1 - _WIDEST_LINE // 2) if len(text) > _WIDEST_LINE else 0
    text = text[start : start + _WIDEST_LINE]
    width = min(width, max(1, len(text) - (column - 1 - start)))
    gutter = f"{line:5}"
    caret = " " * (column - 1 - start) + "^" + "~" * (width - 1)
    return [f"{gutter} | {text}", f"{' ' * len(gutter)} | {caret}"]


def _expansions(step: Expansion | None) -> list[str]:
    steps: list[str] = []
    while step is not None and len(steps) < 4:
        body = step.body if len(step.body) <= 60 else step.body[:57] + "..."
        steps.append(f"{step.name} = {body}" if body else f"{step.name}, which is empty")
        step = step.parent
    return steps


class PytritonError(Exception):
    """The base of all errors that pytriton raises on purpose."""


class CompileError(PytritonError):
    """A text that cannot be translated; ``diagnostics`` holds every finding, errors first."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n\n".join(diagnostic.render() for diagnostic in diagnostics))

    def __reduce__(self) -> tuple[type[CompileError], tuple[tuple[Diagnostic, ...]]]:
        return type(self), (self.diagnostics,)


class PreprocessError(CompileError):
    """A wrong directive, macro or `#if` expression."""


class ParseError(CompileError):
    """Characters that are no token, or tokens that are no Triton-C."""


class CheckError(CompileError):
    """A name, type, shape or constant that does not fit."""


class UnsupportedError(CompileError):
    """A construct that Triton cannot express, or that Triton-C never had."""


class LaunchError(PytritonError):
    """A kernel object used wrongly; nothing was launched."""


class TuneError(PytritonError):
    """A sweep of which no candidate is left."""


_BY_CODE = {"TC0": ParseError, "TC1": PreprocessError, "TC2": ParseError, "TC4": UnsupportedError}


@dataclass(slots=True)
class Report:
    """Collects the findings of one translation. At most ``limit`` errors are kept."""

    limit: int = 20
    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: str,
        message: str,
        where: Span | Source,
        *notes: str | tuple[str, Span],
        help: str | None = None,
    ) -> None:
        """Record an error; the first one at a place silences those that follow there."""
        found = Diagnostic("error", code, message, where, notes, help)
        if isinstance(where, Source) or not any(other.where == where for other in self.errors):
            self.errors.append(found)
        if len(self.errors) >= self.limit:
            self.stop()

    def warning(
        self,
        code: str,
        message: str,
        where: Span | Source,
        *notes: str | tuple[str, Span],
        help: str | None = None,
    ) -> None:
        """Record a warning, once a place and code."""
        found = Diagnostic("warning", code, message, where, notes, help)
        if found not in self.warnings:
            self.warnings.append(found)

    def fatal(
        self,
        code: str,
        message: str,
        where: Span | Source,
        *notes: str | tuple[str, Span],
        help: str | None = None,
    ) -> NoReturn:
        """Record an error after which nothing more can be read, and raise."""
        self.error(code, message, where, *notes, help=help)
        self.stop()

    def check(self) -> None:
        """Raise if an error was recorded."""
        if self.errors:
            self.stop()

    def stop(self) -> NoReturn:
        """Raise what was recorded; the first error decides the class."""
        kind = _BY_CODE.get(self.errors[0].code[:3], CheckError)
        raise kind(tuple(self.errors))
