"""Source and defines -> syntax tree, read once for all configs of a sweep.

A define that is a number stays a name in the tokens and in the tree (``Preprocessed.numbers`` has its value), so
the configs of a sweep share both, unless an ``#if``, ``#`` or ``##`` uses its digits, or its sign is an operator
(``5 X`` with -3). The latest results are cached with their warnings: of sources of moderate length, without
``#include`` and without an error. Everything cached is frozen, or not changed after it was made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pytriton.errors import Diagnostic, Report
from pytriton.frozen import replace
from pytriton.lang.conditions import satisfied, spelling
from pytriton.lang.parse import syntax
from pytriton.lang.parse.parser import parse
from pytriton.lang.preprocess.directives import Preprocessed, preprocess_given
from pytriton.lang.preprocess.macros import Macro, given_macros
from pytriton.lang.recording import Comparison, Log, Requirement
from pytriton.source import Source

MAX_NAME: Final = 4_096  # of a file, in characters
MAX_TEXTS: Final = 16
MAX_POINTS: Final = 8  # of one source: configs that differ in what an #if reads
MAX_TOKENS: Final = 4_000  # about 500 lines; their tree takes 1 MB


class Front(NamedTuple):
    """A source as parsed. ``mentioned, asked, macros, numbers``: as ``Preprocessed`` has them. ``spelled``: the
    defines whose digits it depends on; ``given``: the defines as they were read."""

    tree: syntax.File
    mentioned: frozenset[str]
    asked: frozenset[str]
    macros: Mapping[str, Macro]
    numbers: Mapping[str, int | float]
    spelled: frozenset[str]
    given: Mapping[str, Macro]

    def given_numbers(self) -> dict[str, int | float]:
        """The values of the defines that are numbers, without a record."""
        return {name: macro.value for name, macro in self.given.items() if macro.value is not None}


class _Entry(NamedTuple):
    """``spelled``: the digits that it depends on, by define; ``compared``: the comparisons of numbers."""

    front: Front
    spelled: dict[str, str]
    compared: Mapping[Comparison, Requirement]
    warnings: tuple[Diagnostic, ...]


_entries: Final[dict[tuple[Any, ...], list[_Entry]]] = {}


def read(
    source: Source,
    defines: Mapping[str, object],
    report: Report,
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    log: Log | None = None,
) -> Front:
    """Preprocess and parse; raises a ``CompileError`` through ``report``. ``log`` gets what depends on numbers."""
    log = Log() if log is None else log
    if _FILE_NAME.fullmatch(source.text) or _names_file(source.text):
        help_ = f"give pathlib.Path({source.text!r})"
        message = "this is the name of a file, not kernel source"
        if not _names_file(source.text):
            message = "this looks like the name of a file, not kernel source, and there is no such file"
            help_ += f"; relative names start at '{os.getcwd()}'"
        report.fatal("TC012", message, source, help=help_)
    given = given_macros(defines, source, report)
    values = {name: macro.value for name, macro in given.items() if macro.value is not None}
    numbers = {name: log.number(name, value) for name, value in values.items()}
    key = _key(source, given)
    cached = [] if report.errors or include_dirs else _entries.get(key, [])  # what is included may change
    for entry in cached:
        spelled = all(spelling(given[name]) == digits for name, digits in entry.spelled.items())
        if spelled and satisfied(entry.compared, values):
            report.warnings += entry.warnings
            log.replay(entry.compared)
            return entry.front._replace(numbers=numbers, given=given)
    already = len(report.warnings)
    own = Log()
    recorded = {name: replace(given[name], value=own.number(name, value)) for name, value in values.items()}
    try:
        preprocessed = preprocess_given(source, {**given, **recorded}, report, include_dirs)
        report.check()
        front = _front(preprocessed, parse(preprocessed.tokens, report))
        front = front._replace(numbers=numbers, given=given)
    finally:
        log.replay(own.entries)
        own.end()
    if not include_dirs and len(preprocessed.tokens) <= MAX_TOKENS:
        spelled_digits = {name: spelling(given[name]) for name in front.spelled}
        kept = front._replace(numbers={}, given={})
        _keep(key, _Entry(kept, spelled_digits, own.entries, tuple(report.warnings[already:])), cached)
    return front


# One line without what a kernel needs, and with a suffix or a directory.
_FILE_NAME: Final = re.compile(
    r"(?=.{1,255}\Z)(?!//)[^\n(){};*#\"=]*([/\\][\w.-]+|\w\.(c|cc|cpp|cu|cuh|h|hpp|py|tc|triton|txt))"
)


def _names_file(text: str) -> bool:
    """Whether a str is the name of an existing file, not a kernel."""
    if len(text) > MAX_NAME or "{" in text or "\n" in text:
        return False
    try:
        return os.path.isfile(text)
    except ValueError:  # a NUL
        return False


def _front(preprocessed: Preprocessed, tree: syntax.File) -> Front:
    spelled = frozenset(preprocessed.spelled) | tree.spelled
    macros, numbers = preprocessed.macros, preprocessed.numbers
    return Front(tree, preprocessed.mentioned, preprocessed.asked, macros, numbers, spelled, {})


def _keep(key: tuple[Any, ...], entry: _Entry, earlier: list[_Entry]) -> None:
    _entries.pop(key, None)  # so that it is last
    _entries[key] = [*earlier[1 - MAX_POINTS :], entry]
    for oldest in list(_entries)[:-MAX_TEXTS]:
        _entries.pop(oldest, None)


def _key(source: Source, given: Mapping[str, Macro]) -> tuple[Any, ...]:
    """What the tokens of a source depend on, other than the digits of numbers."""
    texts = (
        (name, spelling(macro) if macro.value is None else type(macro.value)) for name, macro in given.items()
    )
    return source.text, source.name, source.origin, *texts
