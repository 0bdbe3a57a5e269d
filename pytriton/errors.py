"""Diagnostics and exceptions.

A ``Diagnostic`` is one finding with a severity, a stable code, a span and a cure; ``render`` prints it with
the source line and a caret. A ``Report`` collects the findings of one translation, so that all errors of a
kernel are shown at once. The exceptions::

    PytritonError               .diagnostics: what was found; .code: that of the first
    ├── CompileError
    │   ├── PreprocessError     directives and macros             TC1xx
    │   ├── ParseError          characters, tokens and syntax     TC0xx, TC2xx
    │   ├── CheckError          names, types, shapes, constants   TC3xx
    │   └── UnsupportedError    what cannot be translated         TC4xx
    │                           or has no derivative here         TC7xx
    ├── LaunchError             wrong use of a kernel object      TC5xx
    └── TuneError               no candidate of a sweep is left   TC6xx
    PytritonWarning             .diagnostics, .code
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, NoReturn, TypeVar

from pytriton.source import Expansion, Source, Span

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``where`` is a span, a source where there is no position, or None: the call itself."""

    severity: Severity
    code: str
    message: str
    where: Span | Source | None
    notes: tuple[str | tuple[str, Span], ...] = ()
    help: str | None = None

    def __str__(self) -> str:
        return self.render()

    def render(self) -> str:
        """The text as a user reads it, without a final line break; very long names and messages are cut."""
        lines = _headline(self.severity, self.message, self.where, self.code)
        if isinstance(self.where, Span):
            lines += [f"note: expanded from {step}" for step in _expansions(self.where.expansion)]
        for note in self.notes:
            if isinstance(note, str):
                lines.append(f"note: {_cut(note)}")
            else:
                lines += _headline("note", note[0], note[1], None)
        if self.help:
            lines.append(f"help: {self.help if self.where is None else _cut(self.help)}")
        return "\n".join(lines)


_LONG_NAME: Final = re.compile(r"\b(\w{57})\w{4,}")
MAX_MESSAGE_LENGTH: Final = 600


def _cut(message: str) -> str:
    """A message without the tails of names that no person would read."""
    message = _LONG_NAME.sub(r"\1...", message)
    return message if len(message) <= MAX_MESSAGE_LENGTH else message[: MAX_MESSAGE_LENGTH - 3] + "..."


def _headline(severity: str, message: str, where: Span | Source | None, code: str | None) -> list[str]:
    tail = f" [{code}]" if code else ""
    if where is None:
        first, *rest = message.split("\n")
        return [first + tail, *rest]
    message = _cut(message)
    if isinstance(where, Source):
        return [f"{_shown(where)}: {severity}: {message}{tail}"]
    line, column = where.source.position(where.start)
    first = f"{_shown(where.source)}:{line}:{column}: {severity}: {message}{tail}"
    return [first, *_snippet(where, line, column)]


def _shown(source: Source) -> str:
    return f"{source.name} ({source.origin})" if source.origin else source.name


MAX_SHOWN_WIDTH = 160


def _snippet(span: Span, line: int, column: int) -> list[str]:
    """The source line and a caret line; a very long line is cut to the part around the caret."""
    text = "".join(char if char.isprintable() else " " for char in span.source.line(line))
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    start = max(0, column - 1 - MAX_SHOWN_WIDTH // 2) if len(text) > MAX_SHOWN_WIDTH else 0
    text = text[start : start + MAX_SHOWN_WIDTH]
    width = min(width, max(1, len(text) - (column - 1 - start)))
    gutter = f"{line:5}"
    caret = " " * (column - 1 - start) + "^" + "~" * (width - 1)
    return [f"{gutter} | {text}", f"{' ' * len(gutter)} | {caret}"]


def _expansions(step: Expansion | None) -> list[str]:
    steps: list[str] = []
    while step is not None and len(steps) < 4:
        body = short(step.body)
        steps.append(f"{step.name} = {body}" if body else f"{step.name}, which is empty")
        step = step.parent
    return steps


class _Found(Exception):
    """Has ``diagnostics``: what was found."""

    diagnostics: tuple[Diagnostic, ...] = ()

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(text)
        self.diagnostics = diagnostics

    @property
    def code(self) -> str:
        """The code of the first diagnostic, such as TC302."""
        return self.diagnostics[0].code if self.diagnostics else ""


class PytritonWarning(_Found, RuntimeWarning):
    """Every warning that pytriton gives: something was done that is probably not meant."""


class PytritonError(_Found):
    """The base of all errors that pytriton raises on purpose."""


class CompileError(PytritonError):
    """A text cannot be translated. ``diagnostics`` holds the findings; ``more`` says that there are others."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...], more: bool = False) -> None:
        self.more = more
        shown = [diagnostic.render() for diagnostic in diagnostics]
        if more:
            shown.append(f"note: these are the first {len(diagnostics)} errors, there are more")
        super().__init__("\n\n".join(shown), diagnostics)

    def __reduce__(self) -> tuple[type[CompileError], tuple[tuple[Diagnostic, ...], bool]]:
        return type(self), (self.diagnostics, self.more)


class PreprocessError(CompileError):
    """A wrong directive, macro or `#if` expression."""


class ParseError(CompileError):
    """Characters that are no token, or tokens that are no Triton-C."""


class CheckError(CompileError):
    """A name, type, shape or constant that does not fit."""


class UnsupportedError(CompileError):
    """A construct that Triton cannot express, or that Triton-C never had."""


class LaunchError(PytritonError):
    """A wrong call: nothing was launched, or accesses outside of a tensor were left out (TC550)."""


class TuneError(PytritonError):
    """No point of a sweep could be compiled and launched."""


_Refusal = TypeVar("_Refusal", LaunchError, TuneError)


def refusal(
    message: str,
    code: str,
    help: str | None = None,
    kind: type[_Refusal] = LaunchError,  # type: ignore[assignment]
) -> _Refusal:
    """The error to raise for a wrong use of a kernel. A message of several lines has the code on its first."""
    finding = Diagnostic("error", code, message, None, (), help)
    return kind(str(finding), (finding,))


_BY_CODE = {
    **dict.fromkeys(("TC0", "TC2"), ParseError),
    "TC1": PreprocessError,
    **dict.fromkeys(("TC4", "TC7"), UnsupportedError),
}


@dataclass(slots=True)
class Report:
    """Collects the findings of one translation. At most ``limit`` errors are kept."""

    limit: int = 20
    errors: list[Diagnostic] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)
    _warned: set[Diagnostic] = field(default_factory=set)

    def error(
        self,
        code: str,
        message: str,
        where: Span | Source,
        *notes: str | tuple[str, Span],
        help: str | None = None,
    ) -> None:
        """Record an error; the first one at a place silences those that follow there."""
        self.add(Diagnostic("error", code, message, where, notes, help))

    def add(self, diagnostic: Diagnostic) -> None:
        """Record an error that was made elsewhere."""
        where = diagnostic.where
        if isinstance(where, Span) and any(other.where == where for other in self.errors):
            return
        if len(self.errors) >= self.limit:
            self.stop(more=True)
        self.errors.append(diagnostic)

    def warning(
        self,
        code: str,
        message: str,
        where: Span | Source,
        *notes: str | tuple[str, Span],
        help: str | None = None,
    ) -> None:
        """Record a warning, once a place and code."""
        diagnostic = Diagnostic("warning", code, message, where, notes, help)
        if diagnostic not in self._warned:
            self._warned.add(diagnostic)
            self.warnings.append(diagnostic)

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

    def stop(self, more: bool = False) -> NoReturn:
        """Raise what was recorded; the first error decides the class. ``more``: not all of it was."""
        kind = _BY_CODE.get(self.errors[0].code[:3], CheckError)
        raise kind(tuple(self.errors), more)


MAX_COMPARED_LENGTH: Final = 100  # of the names that are compared: their distance takes a time of its square


def not_a_text(given: object) -> LaunchError:
    """The error where a kernel's source was expected."""
    message = f"expected source text or a Path, got {type(given).__name__}"
    return refusal(message, "TC515", "give a str, bytes, or a pathlib.Path")


def counted(count: int, noun: str) -> str:
    """``1 kernel``, ``2 kernels``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def short(text: str, length: int = 60) -> str:
    """A text as messages show it: cut where it is longer."""
    return text if len(text) <= length else f"{text[: length - 3]}..."


def closest(name: str, names: Iterable[str]) -> str | None:
    """The known name that a person who typed ``name`` most likely meant."""
    words = list(names)
    alike = [word for word in words if word.lower() == name.lower()]
    if alike or len(name) > MAX_COMPARED_LENGTH:
        return alike[0] if alike else None
    matches = difflib.get_close_matches(
        name, [word for word in words if len(word) <= MAX_COMPARED_LENGTH], 1, cutoff=0.7
    )
    return matches[0] if matches else None
