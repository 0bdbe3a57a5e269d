"""Replaces a measurement: times on disk, choices that the user pins, and the choices of other ranks.

The *question* holds all that a time depends on beside the config itself: the source, the GPU, the versions, the
values of the arguments that require new tuning, and the specialization of all others (alignment, ones). Configs
are stored by their ``repr`` (``Config(TM=64, num_warps=4)``).

*Times.* One file in the cache directory answers one question. It maps each config to its result: milliseconds
and a digest of the code that took them, or why it was dropped; and it records how the races of its sweeps
ended. So a decided sweep is not measured again, and in one that grew the new configs race with the best of the
old. A file that is torn, foreign or changed is a miss, and costs a measurement, nothing else.
``PYTRITON_FORCE_TUNE=1`` measures anew, and stores that.

*Pins.* ``PYTRITON_REPLAY=FILE`` holds one choice per line, as JSON. What it contains is never measured. What
it lacks is tuned as usual and added, so that one run writes the file and others replay it; a line may be edited by
hand.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch

from pytriton import __version__
from pytriton.compat.torch_names import default_store
from pytriton.compat.triton_names import triton
from pytriton.errors import TuneError
from pytriton.runtime.compile.module_cache import append_line, load_bytes, read_bytes, store_bytes
from pytriton.runtime.errors import refusal, remark, warn_once
from pytriton.runtime.launch.candidate import Candidate
from pytriton.runtime.locks import several_ranks
from pytriton.runtime.options.defines import Config, present_words
from pytriton.runtime.options.definition import KernelText
from pytriton.tuning.sweep import BEST_FEW, fastest

FORCE_VARIABLE: Final = "PYTRITON_FORCE_TUNE"
REPLAY_VARIABLE: Final = "PYTRITON_REPLAY"

_MAX_FILE_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Question:
    """Which kernel, where, for which arguments.

    ``text`` is a digest; ``fixed`` is what all configs of the sweep have in common; ``specialization`` is what the
    code may depend on, a letter for each parameter: ``a`` plain, ``b`` a multiple of 16, ``c`` a 1.
    """

    kernel: str
    text: str
    fixed: Mapping[str, str]
    device: str
    arguments: Mapping[str, int | float]
    specialization: str = ""

    def stored_by(self) -> dict[str, Any]:
        """The key of stored times: with the versions, without the sweep around a config."""
        return {**self._words("fixed"), "versions": [__version__, triton.__version__, torch.__version__]}

    def pinned_by(self) -> dict[str, Any]:
        """The key of a pinned choice: versions, alignment and the rest of the sweep may change."""
        return self._words("specialization")

    def _words(self, omitted: str) -> dict[str, Any]:
        """All but one of these, under the names that files have."""
        values = {name: value for name, value in asdict(self).items() if name != omitted}
        return {"facts" if name == "specialization" else name: value for name, value in values.items()}

    @property
    def file_name(self) -> str:
        """The entry's name in the cache directory."""
        return f"tuned_{_digest(self.stored_by())}.json"


@dataclass(frozen=True, slots=True)
class Timing:
    """The milliseconds of one config and the digest of its code; or why it was dropped."""

    time: float | str
    code: str = ""


def ask(
    text: KernelText,
    kernel: str,
    points: Sequence[Config],
    device: int,
    arguments: Mapping[str, Any],
    specialization: Sequence[int],
) -> Question:
    """The question that a call with these arguments poses on a GPU."""
    first, *others = [_settings(point) for point in points]
    asked = text.settings
    asked_of = text.source.text, asked.kernel, asked.include_dirs, asked.strict_literals
    return Question(
        kernel=kernel,
        text=_digest([*asked_of, *([asked.without_promises] if asked.without_promises else [])]),
        fixed={
            name: value for name, value in first.items() if all(other.get(name) == value for other in others)
        },
        device=device_name(device),
        arguments=arguments,
        specialization="".join("abcd"[kind] for kind in specialization),
    )


def _settings(point: Config) -> dict[str, str]:
    defines = {name: repr(value) for name, value in point.defines.items()}
    words = ("num_warps", "num_stages", "precision", *(["fast_math"] if point.fast_math else []))
    return {**defines, **{name: repr(getattr(point, name)) for name in words}}


def _digest(value: object) -> str:
    """A short name for what can be written as JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def code_of(text: str) -> str:
    """The digest of a generated module, by which a time is known to be that of the present translation."""
    return _digest(text)


def device_name(index: int) -> str:
    """The model of a GPU, by which times can be compared."""
    properties = torch.cuda.get_device_properties(index)
    return f"{properties.name}, {properties.multi_processor_count} multiprocessors"


# Times.


class Time(float):
    """Milliseconds of a config. ``finalist``: whether it was timed to the end, as the choice was."""

    __slots__ = ("finalist",)
    finalist: bool

    def __new__(cls, milliseconds: float, finalist: bool) -> Time:
        time = super().__new__(cls, milliseconds)
        time.finalist = finalist
        return time

    def __reduce__(self) -> tuple[type[Time], tuple[float, bool]]:
        return Time, (float(self), self.finalist)

    def __repr__(self) -> str:
        return f"{float(self)!r} (finalist)" if self.finalist else float.__repr__(self)


@dataclass(slots=True)
class Record:
    """The measurements of the configs of a sweep for one key, all times on one scale.

    ``finalists`` if the sweep is decided, the choice first; ``others`` are those of other sweeps of the same text;
    ``passing`` are reasons that may not apply next time.
    """

    measured: dict[Config, Timing] = field(default_factory=dict)
    finalists: list[Config] = field(default_factory=list)
    others: list[Config] = field(default_factory=list)
    passing: dict[Config, str] = field(default_factory=dict)
    launched: Candidate | None = None  # the first launchable one, used where measuring is impossible

    def times(self) -> dict[Config, float]:
        """The milliseconds of those configs that have any."""
        return {
            config: point.time for config, point in self.measured.items() if isinstance(point.time, float)
        }

    def best(self) -> list[Config]:
        """Those that new configs must beat: the finalists of this sweep and of others, and the fastest few."""
        return list(dict.fromkeys([*self.finalists, *self.others, *fastest(self.times(), BEST_FEW)]))

    def decide(self, times: Mapping[Config, float]) -> None:
        """Set the finalists of a race, the choice first. Older times are rescaled by the first finalist that has
        one."""
        self.finalists, before = list(times), self.times()
        factor = next((times[config] / before[config] for config in times if config in before), 1.0)
        for config in before:
            self.measured[config] = replace(self.measured[config], time=before[config] * factor)

    def timings(self) -> dict[Config, float | str]:
        """The user's view."""
        times = {config: Time(time, config in self.finalists) for config, time in self.times().items()}
        return {**{config: point.time for config, point in self.measured.items()}, **times, **self.passing}


# How a race ended: ``sweep`` are the user's configs that it decided about, ``field`` has the choice first.
_Final = dict[str, list[str]]


def recall(question: Question, sweep: Sequence[Config], points: Sequence[Config]) -> Record:
    """The record that earlier processes stored of these configs, of which ``sweep`` are the user's; empty where all
    must be measured again.

    A sweep is decided if a race has decided about all of its configs, and perhaps more, and one of its finalists is
    among them: the best of many is the best of a few.
    """
    if os.environ.get(FORCE_VARIABLE, "") not in ("", "0"):
        return Record()
    stored, finals = _stored(question)
    named = {repr(point): point for point in points if repr(point) in stored}
    fields = [([named[name] for name in final["field"] if name in named], final["sweep"]) for final in finals]
    users = {repr(point) for point in sweep}
    decided = [finalists for finalists, about in fields if finalists and users.issubset(about)]
    return Record(
        {point: stored[name] for name, point in named.items()},
        decided[-1] if decided else [],
        [point for finalists, _ in fields for point in finalists],
    )


def keep(
    question: Question, timings: Mapping[Config, Timing], sweep: Sequence[Config], finalists: Sequence[Config]
) -> None:
    """Store timings, next to those of other configs, and the finalists of a decided sweep; a directory that
    cannot be written is not an error.

    Of two processes that store at the same moment one may lose: its configs are measured again some day.
    """
    entries, finals = _stored(question)
    entries |= {repr(point): entry for point, entry in timings.items()}
    if finalists:
        final = {"sweep": sorted(map(repr, sweep)), "field": [*map(repr, finalists)]}
        finals = [*(other for other in finals if other["sweep"] != final["sweep"]), final]
    body = {
        **question.stored_by(),
        "points": {name: asdict(entry) for name, entry in entries.items()},
        "finals": finals,
    }
    store_bytes(question.file_name, json.dumps({"check": _digest(body), **body}, indent=1).encode())


def _stored(question: Question) -> tuple[dict[str, Timing], list[_Final]]:
    """What the file of a question holds; nothing if it is not complete."""
    content = load_bytes(question.file_name, _MAX_FILE_BYTES)
    try:
        body = json.loads(content or b"")
        if body.pop("check") != _digest(body) or body["text"] != question.text:
            return {}, []
        entries = {
            present_words(name): Timing(entry["time"], entry["code"])
            for name, entry in body["points"].items()
        }
        finals = [
            {name: [*map(present_words, final[name])] for name in ("sweep", "field")}
            for final in body.get("finals", [])  # which earlier versions did not write
        ]
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {}, []
    return {name: entry for name, entry in entries.items() if _is_result(entry.time)}, finals


def _is_result(time: object) -> bool:
    return isinstance(time, str) or (isinstance(time, float) and 0 < time < float("inf"))


# Pins.


def replaying() -> bool:
    """Whether there is a file of pinned choices."""
    return bool(os.environ.get(REPLAY_VARIABLE))


def pinned(question: Question, points: Sequence[Config]) -> Config | None:
    """The choice that the file pins; raises TuneError for one that is not a config of the sweep."""
    if not replaying():
        return None
    path = Path(os.environ[REPLAY_VARIABLE])
    wanted = question.pinned_by()
    shown = json.dumps(wanted, sort_keys=True)
    choice = None
    for number, entry in _pins(path):
        if json.dumps({key: entry.get(key) for key in wanted}, sort_keys=True) == shown:
            choice = number, present_words(str(entry["choice"]))  # the last line wins
    if choice is None:
        return None
    number, shown = choice
    for point in points:
        if repr(point) == shown:
            return point
    raise refusal(
        f"{os.environ[REPLAY_VARIABLE]}:{number}: {question.kernel} is pinned to {shown}, "
        "which is not a config of its sweep",
        "TC602",
        f"write one of {', '.join(map(repr, points))}, or delete the line",
        TuneError,
    )


def pin(question: Question, choice: Config) -> None:
    """Add a choice to the file, if there is one; warns where it cannot be written."""
    if not replaying():
        return
    name = os.environ[REPLAY_VARIABLE]
    line = json.dumps({**question.pinned_by(), "choice": repr(choice)}) + "\n"
    try:
        append_line(Path(name), line.encode(), lambda tail: _choice_of(tail) is not None)
    except OSError as error:
        warn_once(remark(f"pytriton cannot add to {REPLAY_VARIABLE}={name}: {error.strerror}", "TC561"))


def _pins(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and content of each pinned choice; raises TuneError for other lines."""
    try:
        lines = read_bytes(path, _MAX_FILE_BYTES).decode().split("\n")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise refusal(
            f"{REPLAY_VARIABLE}={path} cannot be read: {error}", "TC602", None, TuneError
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        entry = _choice_of(line)
        if entry is None and number == len(lines):
            return  # it has no end: another process is writing it, or was killed
        if entry is None:
            raise refusal(
                f"{path}:{number}: this line pins no choice",
                "TC602",
                f"delete it; a run with {REPLAY_VARIABLE} adds lines of the right form",
                TuneError,
            )
        yield number, entry


def _choice_of(line: str | bytes) -> dict[str, Any] | None:
    """The entry of a line; None if it pins no choice."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("choice"), str) else None


# One choice for all ranks of ``torch.distributed``.
#
# Ranks that tune for themselves may choose different configs, and then their sums are rounded in different
# orders. So the first rank to finish puts its choice into the store of the process group, and all others take
# it; ranks that start later measure nothing.
#
# There is no collective, as a rank may never call a kernel that others tune: each rank tunes on its own GPU and
# waits for none. What was chosen before ``init_process_group``, and what PYTRITON_REPLAY pins, stays as it is.


_distributed: Final[Any] = torch.distributed


def agreed(question: Question, points: Iterable[Config], choice: Config | None = None) -> Config | None:
    """What the first rank chose: ``choice``, if no other rank was faster. Unchanged
    where there is one rank, or the store does not answer."""
    if not several_ranks():
        return choice
    named = {repr(point): point for point in points}
    key = _key(question, named)
    try:
        store = default_store()
        if choice is not None:
            # Sets it if nothing is there, in one step, and gives what is there then.
            answer = store.compare_set(key, "", repr(choice))
        else:
            answer = store.get(key) if store.check([key]) else b""
    except (RuntimeError, ValueError) as error:  # the rank that keeps the store has ended
        warn_once(remark(f"pytriton cannot ask the other ranks what they chose: {error}", "TC605"))
        return choice
    return named.get(bytes(answer).decode(), choice)


def _key(question: Question, named: Iterable[str]) -> str:
    """The same on all ranks: neither the GPU's name nor the alignment of a rank's tensors is part of it."""
    parts = [question.kernel, question.text, dict(question.fixed), dict(question.arguments), sorted(named)]
    return f"pytriton/{_digest(parts)}"
