"""What tuning found, kept for the next process: in the cache directory, and in a file of pinned choices.

The *question* says all that the times depend on: the text, the points of the sweep, the GPU, the versions, and the
values of the arguments that call for new tuning. A stored answer is a point of the sweep, in words
(``Config(TM=64, num_warps=4)``), with the times of all points. It is believed only if it names a point of the
present sweep, so a broken or foreign file costs a new measurement and can do nothing else.

``PYTRITON_FORCE_TUNE=1`` measures anew, and stores that. ``PYTRITON_REPLAY=FILE`` pins choices: FILE holds one a
line, as JSON; what it lacks is tuned as usual and added, so that one run writes the file and others replay it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import torch
import triton

from pytriton.errors import TuneError
from pytriton.pipeline import Translation
from pytriton.runtime.cache import directory, store_bytes
from pytriton.runtime.options import Config
from pytriton.runtime.origin import warn_once
from pytriton.runtime.refusals import headline
from pytriton.runtime.text import KernelText

__all__ = ["Answer", "Question", "ask", "device_name", "keep", "pin", "pinned", "recall", "replaying"]

FORCE_VARIABLE: Final = "PYTRITON_FORCE_TUNE"
REPLAY_VARIABLE: Final = "PYTRITON_REPLAY"

_LARGEST_FILE: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Question:
    """Which sweep, where, for which arguments. ``text``, ``code`` (what the first point became) and ``sweep``
    are digests; ``fixed`` is what all points of the sweep have in common."""

    kernel: str
    text: str
    code: str
    fixed: Mapping[str, str]
    sweep: str
    device: str
    arguments: Mapping[str, int | float]

    def pin(self) -> dict[str, Any]:
        """What a pinned choice is found by: the sweep may grow around it, and the translation change."""
        return {name: value for name, value in asdict(self).items() if name not in ("sweep", "code")}

    @property
    def file_name(self) -> str:
        """The entry's name in the cache directory; the versions are part of it."""
        return f"tuned_{_digest([asdict(self), triton.__version__, torch.__version__])}.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """The best point, and the milliseconds of each, or why it has none."""

    best: Config
    timings: Mapping[Config, float | str]


def ask(
    text: KernelText,
    first: Translation,
    points: Sequence[Config],
    full: bool,
    device: int,
    arguments: Mapping[str, Any],
) -> Question:
    """The question that a call with these arguments poses on a GPU; ``full``: with ``tune='full'``."""
    settings = [_settings(point) for point in points]
    return Question(
        kernel=first.kernel,
        text=_digest([text.source.text, text.kernel, text.include_dirs, text.strict_literals]),
        code=_digest(first.text),
        fixed={name: one for name, one in settings[0].items() if all(s.get(name) == one for s in settings)},
        sweep=_digest([[repr(point) for point in points], full]),
        device=device_name(device),
        arguments=arguments,
    )


def _settings(point: Config) -> dict[str, str]:
    defines = {name: repr(value) for name, value in point.defines.items()}
    words = ("num_warps", "num_stages", "precision")
    return {**defines, **{name: repr(getattr(point, name)) for name in words}}


def _digest(told: object) -> str:
    """A short name for what can be written as JSON."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def device_name(index: int) -> str:
    """The model of a GPU, by which times can be compared."""
    found = torch.cuda.get_device_properties(index)
    return f"{found.name}, {found.multi_processor_count} multiprocessors"


def recall(question: Question, points: Sequence[Config]) -> Answer | None:
    """What an earlier process measured; None where nothing is known, or it is to be measured anew."""
    if os.environ.get(FORCE_VARIABLE, "") not in ("", "0"):
        return None
    try:
        path = directory() / question.file_name
        entry = json.loads(_read(path))
    except (OSError, ValueError, RecursionError):
        return None
    named = {repr(point): point for point in points}
    if not isinstance(entry, dict) or not isinstance(entry.get("timings"), dict):
        return None
    timings = {
        named[name]: time
        for name, time in entry["timings"].items()
        if name in named and isinstance(time, (float, str))
    }
    best = named.get(str(entry.get("best")))
    return None if best is None or not isinstance(timings.get(best), float) else Answer(best, timings)


def keep(question: Question, answer: Answer) -> None:
    """Store what was measured; a directory that cannot be written is no error."""
    timings = {repr(point): time for point, time in answer.timings.items()}
    entry = {**asdict(question), "best": repr(answer.best), "timings": timings}
    with suppress(OSError):
        store_bytes(question.file_name, json.dumps(entry, indent=1).encode())


def replaying() -> bool:
    """Whether there is a file of pinned choices."""
    return bool(os.environ.get(REPLAY_VARIABLE))


def pinned(question: Question, points: Sequence[Config]) -> Config | None:
    """The choice that ``PYTRITON_REPLAY`` pins; raises TuneError for one that is no point of the sweep."""
    name = os.environ.get(REPLAY_VARIABLE, "")
    if not name:
        return None
    wanted = json.dumps(question.pin(), sort_keys=True)
    choice = None
    for number, entry in _pins(Path(name)):
        if json.dumps({key: entry.get(key) for key in question.pin()}, sort_keys=True) == wanted:
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
    """Add a choice to the file of ``PYTRITON_REPLAY``, if there is one; warns where it cannot be written."""
    name = os.environ.get(REPLAY_VARIABLE, "")
    if not name:
        return
    line = json.dumps({**question.pin(), "choice": repr(choice)}) + "\n"
    try:
        with open(name, "ab", buffering=0) as file:  # one write, so that processes may share the file
            file.write(line.encode())
    except OSError as error:
        warn_once(f"pytriton cannot add to {REPLAY_VARIABLE}={name}: {error.strerror}")


def _pins(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and content of each pinned choice; raises TuneError for what is none."""
    try:
        lines = _read(path).split("\n")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise TuneError(headline(f"{REPLAY_VARIABLE}={path} cannot be read: {error}", "TC602")) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict) or not isinstance(entry.get("choice"), str):
            raise TuneError(
                headline(
                    f"{path}:{number}: this line pins no choice",
                    "TC602",
                    f"delete it; a run with {REPLAY_VARIABLE} adds lines of the right form",
                )
            )
        yield number, entry


def _read(path: Path) -> str:
    """A file's text; raises OSError, or ValueError for one that is too large or no text."""
    if path.stat().st_size > _LARGEST_FILE:
        raise ValueError("it is too large")
    return path.read_text(encoding="utf-8")
