"""Texts and launches -> one ``Job`` for each text: what to translate, and the uses in the code around it.

A define that is not known is *open*. Its use in the text tells what it can be: a type is tried with the
element types, a name that ``#if`` reads with its values, a number with many numbers. Launches with
unknown defines (``**defines`` of a caller outside) count only if there are no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pytriton.errors import Report
from pytriton.fold.variants import names_in
from pytriton.lang.tokens import Kind, tokenize
from pytriton.lang.tree.types import SCALARS
from pytriton.port.read.extract import Found
from pytriton.port.read.library import DTYPES
from pytriton.port.read.values import (
    Dtype,
    KernelObject,
    LaunchSite,
    Unknown,
    literal,
    part,
)
from pytriton.source import Source

# torch dtype -> its word in Triton-C
WORDS: Final = {type_.torch: type_.name for type_ in SCALARS}


@dataclass(frozen=True, eq=False)
class Use:
    """One way to launch a text.

    ``fixed`` values are known, ``swept`` ones a list, ``open`` ones an expression. ``points`` are the configs
    of 2021. ``dark`` is an expression that gives further defines. ``line`` 0: only the constructor is known, which
    is in the same ``file``.
    """

    fixed: Mapping[str, Any]
    swept: Mapping[str, tuple[Any, ...]]
    open: Mapping[str, Unknown]
    points: tuple[Mapping[str, Any], ...]
    dark: str | None
    kernel: str | None
    line: int
    file: Path
    strict: bool = False
    types: Mapping[str, frozenset[str]] = field(default_factory=dict)  # excluded types of an open one


@dataclass(eq=False)
class Job:
    """A kernel source, its uses, and comments for the report, each with a line of a file."""

    extracted: Found
    text: str
    uses: list[Use]
    notes: list[tuple[Path, int, str]] = field(default_factory=list)


def gather(extracted: Found, overrides: Mapping[str, Any]) -> Job:
    """The job of a source. ``overrides`` are defines of the command line."""
    text = str(extracted.text)
    words = frozenset(token.text for token in tokenize(Source(text), Report()) if token.kind is Kind.IDENT)
    job = Job(extracted, text, [], [*extracted.notes])
    seen: dict[str, Use] = {}
    for launch in extracted.launches:
        use = _use(extracted, launch, words, overrides)
        key = repr(list(_shown(use)))
        if key not in seen or use.line or not seen[key].line:
            seen[key] = use
    uses = [use for use in seen.values() if use.line] or list(seen.values())
    clear = [use for use in uses if use.dark is None]
    for use in uses:
        if use.dark is not None and clear:
            job.notes.append((use.file, use.line, _IN_THE_DARK.format(use.dark)))
    # a source that is never launched: the defines of the command line, if any
    bare = LaunchSite(KernelObject("", 0, {}), 0)
    job.uses = clear or uses or [_use(extracted, bare, words, overrides)]
    return job


_IN_THE_DARK: Final = (
    "its callers decide some defines of this launch ({}): what no call in these files leads to was not ported; "
    "a call in a file that is given too shows more"
)


def plain(value: Any) -> Any:
    """A value as the translator takes it: text, number, or the word of a dtype."""
    if isinstance(value, Dtype):
        return WORDS.get(value.name, value.name)
    return str(value) if isinstance(value, str) else value


def _is_value(value: Any) -> bool:
    return isinstance(value, (str, bool, int, float, Dtype)) and literal(value)


def _use(
    extracted: Found,
    launch: LaunchSite,
    words: frozenset[str],
    overrides: Mapping[str, Any],
) -> Use:
    kernel: KernelObject = launch.kernel
    merged = {**kernel.defines, **launch.defines, **overrides}
    decisions = dict(launch.decisions)
    points, dark_points = _points(kernel.points)
    dark = merged.pop(None, None)
    fixed: dict[str, Any] = {}
    swept: dict[str, tuple[Any, ...]] = {}
    unknown: dict[str, Unknown] = {}
    for name, value in merged.items():
        if not isinstance(name, str):
            dark = dark or Unknown(f"the name {name!r}")
            continue
        name = str(name)
        if isinstance(value, Unknown):  # perhaps a condition that was decided on the way
            way = decisions.get(value.text)
            if way is False or (
                way and (value.kind == "bool" or not _is_computed_with(name, str(extracted.text)))
            ):
                value = way
        if isinstance(value, (list, tuple)) and value and all(_is_value(item) for item in value):
            swept[name] = tuple(plain(item) for item in value)
            if len(value) == 1:
                fixed[name] = swept.pop(name)[0]
        elif _is_value(value):
            fixed[name] = plain(value)
        elif value is not None:
            unknown[name] = value if isinstance(value, Unknown) else Unknown(name)
    taken = _reached(words, [*fixed.values(), *(value_ for some in swept.values() for value_ in some)])
    unknown = {name: value for name, value in unknown.items() if name in taken}
    # names that the source does not have: a launcher accepts those that are not in capitals only if it knows them
    loose = {str(name): None for name in {*merged} - taken if not str(name).isupper()}
    return Use(
        {name: v for name, v in fixed.items() if name in taken or isinstance(v, bool)} | loose,
        {name: value for name, value in swept.items() if name in taken},
        unknown,
        points,
        dark.text if isinstance(dark, Unknown) else dark_points,
        kernel.kernel if isinstance(kernel.kernel, str) else None,
        launch.line,
        launch.file or extracted.path,
        kernel.strict_literals,
        {name: _excluded(value, decisions) for name, value in unknown.items()},
    )


def _is_computed_with(name: str, text: str) -> bool:
    """Whether the value of a define counts, and not only whether it is true: directives aside, a text has it."""
    return re.search(rf"^(?!\s*#).*\b{name}\b", text, re.MULTILINE) is not None


def _excluded(value: Unknown, decisions: Mapping[str, bool]) -> frozenset[str]:
    """The types that an open one is not, after decisions about it: ``x.dtype == torch.float16``."""
    excluded: set[str] = set()
    for name, dtype in DTYPES.items():
        word = WORDS[dtype]
        way = decisions.get(f"{part(value)} == torch.{name}")
        if way is True:
            return frozenset(WORDS.values()) - {word}
        if way is False:
            excluded.add(word)
    return frozenset(excluded)


def _points(configs: Any) -> tuple[tuple[Mapping[str, Any], ...], str | None]:
    """The known configs, and the expression of unknown ones."""
    if not isinstance(configs, (list, tuple)):
        return (), repr(configs) if isinstance(configs, Unknown) else None
    points: list[Mapping[str, Any]] = []
    for config in configs:
        item = config[0] if isinstance(config, tuple) and config else config
        if isinstance(item, dict) and all(map(_is_value, item.values())):
            points.append({str(name): plain(value) for name, value in item.items()})
    return tuple(points), None if points or not configs else "autotune_configs"


def _reached(words: frozenset[str], values: Iterable[Any]) -> frozenset[str]:
    """The names in the text, and in the defines that are text."""
    reached = set(words)
    for value in values:
        if isinstance(value, str):
            reached.update(names_in(value))
    return frozenset(reached)


def _shown(use: Use) -> Iterator[Any]:
    """All that tells one use from another."""
    yield from (sorted(use.fixed.items()), sorted(use.swept.items()), use.points, use.kernel, use.dark)
    yield [(name, value.text) for name, value in sorted(use.open.items())]
    yield sorted((name, sorted(some)) for name, some in use.types.items())
