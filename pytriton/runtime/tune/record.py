"""What tuning found, kept for the next process, point by point.

The *question* says all that a time depends on beside the point itself: the text, the GPU, the versions, the
values of the arguments that call for new tuning, and what is compiled into the kernel of all others
(alignment, ones). One file answers one question. It maps each point, in words (``Config(TM=64,
num_warps=4)``), to what was found: milliseconds and a digest of the code that took them, or why the point
was dropped. So a sweep that grew measures its new points only. A file that is torn, foreign or changed is a
miss: it costs a measurement and can do nothing else.

``PYTRITON_FORCE_TUNE=1`` measures anew, and stores that.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import torch
import triton

from pytriton import __version__
from pytriton.runtime.compile.module_cache import load_bytes, store_bytes
from pytriton.runtime.options.defines import Config
from pytriton.runtime.options.source_text import KernelText

__all__ = ["Found", "Question", "ask", "code_of", "device_name", "keep", "recall"]

FORCE_VARIABLE: Final = "PYTRITON_FORCE_TUNE"

_LARGEST_FILE: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Question:
    """Which kernel, where, for which arguments.

    ``text`` is a digest; ``fixed`` is what all points of the sweep have in common; ``facts`` is what the
    code may depend on, a letter for each parameter: ``a`` plain, ``b`` a multiple of 16, ``c`` a 1.
    """

    kernel: str
    text: str
    fixed: Mapping[str, str]
    device: str
    arguments: Mapping[str, int | float]
    facts: str = ""

    def stored_by(self) -> dict[str, Any]:
        """What times are found by. The sweep around a point is no part of it, but the versions are."""
        told = {name: value for name, value in asdict(self).items() if name != "fixed"}
        return {**told, "versions": [__version__, triton.__version__, torch.__version__]}

    @property
    def file_name(self) -> str:
        """The entry's name in the cache directory."""
        return f"tuned_{_digest(self.stored_by())}.json"


@dataclass(frozen=True, slots=True)
class Found:
    """Of one point: its milliseconds and the digest of its code; or why it was dropped."""

    time: float | str
    code: str = ""


def ask(
    text: KernelText,
    kernel: str,
    points: Sequence[Config],
    device: int,
    arguments: Mapping[str, Any],
    facts: Sequence[int],
) -> Question:
    """The question that a call with these arguments poses on a GPU."""
    settings = [_settings(point) for point in points]
    asked = text.settings
    told = text.source.text, asked.kernel, asked.include_dirs, asked.strict_literals
    return Question(
        kernel=kernel,
        text=_digest([*told, *([asked.without_promises] if asked.without_promises else [])]),
        fixed={name: one for name, one in settings[0].items() if all(s.get(name) == one for s in settings)},
        device=device_name(device),
        arguments=arguments,
        facts="".join("abcd"[fact] for fact in facts),
    )


def _settings(point: Config) -> dict[str, str]:
    defines = {name: repr(value) for name, value in point.defines.items()}
    words = ("num_warps", "num_stages", "precision")
    return {**defines, **{name: repr(getattr(point, name)) for name in words}}


def _digest(told: object) -> str:
    """A short name for what can be written as JSON."""
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def code_of(text: str) -> str:
    """The digest of a generated module, by which a time is known to be that of the present translation."""
    return _digest(text)


def device_name(index: int) -> str:
    """The model of a GPU, by which times can be compared."""
    found = torch.cuda.get_device_properties(index)
    return f"{found.name}, {found.multi_processor_count} multiprocessors"


def recall(question: Question, points: Sequence[Config]) -> dict[Config, Found]:
    """What earlier processes found of these points; nothing where all is to be measured anew."""
    if os.environ.get(FORCE_VARIABLE, "") not in ("", "0"):
        return {}
    stored = _entries(question)
    return {point: stored[shown] for point in points if (shown := repr(point)) in stored}


def keep(question: Question, found: Mapping[Config, Found]) -> None:
    """Store what was found, beside what is known of other points; a directory that cannot be written is no
    error.

    Of two processes that store at the same moment one may lose: its points are measured again some day.
    """
    entries = {**_entries(question), **{repr(point): one for point, one in found.items()}}
    body = {**question.stored_by(), "points": {name: asdict(one) for name, one in entries.items()}}
    store_bytes(question.file_name, json.dumps({"check": _digest(body), **body}, indent=1).encode())


def _entries(question: Question) -> dict[str, Found]:
    """What the file of a question holds; nothing if it is not whole."""
    content = load_bytes(question.file_name, _LARGEST_FILE)
    try:
        body = json.loads(content or b"")
        if body.pop("check") != _digest(body) or body["text"] != question.text:
            return {}
        found = {name: Found(one["time"], one["code"]) for name, one in body["points"].items()}
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return {}
    return {name: one for name, one in found.items() if isinstance(one.time, str) or _is_time(one.time)}


def _is_time(value: object) -> bool:
    return isinstance(value, float) and 0 < value < float("inf")
