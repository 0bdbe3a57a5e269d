"""Pinned choices: ``PYTRITON_REPLAY=FILE`` holds one a line, as JSON.

What it answers is never measured. What it lacks is tuned as usual and added, so that one run writes the
file and others replay it; a line may be edited by hand.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pytriton.errors import TuneError
from pytriton.runtime.compile.files import append_line, insisting
from pytriton.runtime.errors import headline, warn_once
from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune.record import Question

__all__ = ["pin", "pinned", "replaying"]

REPLAY_VARIABLE: Final = "PYTRITON_REPLAY"

_LARGEST_FILE: Final = 1 << 24


def replaying() -> bool:
    """Whether there is a file of pinned choices."""
    return bool(os.environ.get(REPLAY_VARIABLE))


def pinned(question: Question, points: Sequence[Config]) -> Config | None:
    """The choice that the file pins; raises TuneError for one that is no point of the sweep."""
    name = os.environ.get(REPLAY_VARIABLE, "")
    if not name:
        return None
    wanted = _pinned_by(question)
    shown = json.dumps(wanted, sort_keys=True)
    choice = None
    for number, entry in _pins(Path(name)):
        if json.dumps({key: entry.get(key) for key in wanted}, sort_keys=True) == shown:
            choice = number, str(entry["choice"])
    if choice is None:
        return None
    number, shown = choice
    for point in points:
        if repr(point) == shown:
            return point
    raise TuneError(
        headline(
            f"{name}:{number}: {question.kernel} is pinned to {shown}, which is no point of its sweep",
            "TC602",
            f"write one of {', '.join(map(repr, points))}, or delete the line",
        )
    )


def pin(question: Question, choice: Config) -> None:
    """Add a choice to the file, if there is one; warns where it cannot be written."""
    name = os.environ.get(REPLAY_VARIABLE, "")
    if not name:
        return
    line = json.dumps({**_pinned_by(question), "choice": repr(choice)}) + "\n"
    try:
        append_line(Path(name), line.encode(), lambda tail: _choice_of(tail) is not None)
    except OSError as error:
        warn_once(f"pytriton cannot add to {REPLAY_VARIABLE}={name}: {error.strerror}")


def _pinned_by(question: Question) -> dict[str, Any]:
    """What a pinned choice is found by: versions, alignment and the rest of the sweep may change around
    it."""
    return {name: value for name, value in asdict(question).items() if name != "facts"}


def _pins(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and content of each pinned choice; raises TuneError for what is none."""
    try:
        lines = insisting(lambda: _read(path)).split("\n")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise TuneError(headline(f"{REPLAY_VARIABLE}={path} cannot be read: {error}", "TC602")) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _choice_of(line)
        if entry is None and number == len(lines):
            return  # it has no end: somebody is writing it, or was killed while he did
        if entry is None:
            raise TuneError(
                headline(
                    f"{path}:{number}: this line pins no choice",
                    "TC602",
                    f"delete it; a run with {REPLAY_VARIABLE} adds lines of the right form",
                )
            )
        yield number, entry


def _choice_of(line: str | bytes) -> dict[str, Any] | None:
    """What a line says; None if it pins no choice."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("choice"), str) else None


def _read(path: Path) -> str:
    """A file's text; raises OSError, or ValueError for one that is too large or no text."""
    with open(path, "rb") as file:
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise ValueError("it is too large")
    return content.decode("utf-8")
