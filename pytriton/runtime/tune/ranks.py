"""What the ranks of ``torch.distributed`` say to each other: one choice for all, and work that is shared.

Ranks that tune for themselves may find other points the fastest, and then their sums are rounded in another
order. So the rank that is done first puts its choice where the ranks found each other, the store of the
process group, and all others take it, those that come later without measuring anything.

``share`` cuts work into jobs. A rank that has time takes the next one, by a counter in the store, and puts the
result there. There is no collective, as a rank may never call a kernel that others tune. Who finds nothing to take
waits for the results of others, a bounded time (``PYTRITON_TUNE_PATIENCE``, seconds), and then does the rest.

What was chosen before ``init_process_group``, and what PYTRITON_REPLAY pins, stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any, Final

import torch

from pytriton.runtime.errors import warn_once
from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune.record import Question

__all__ = ["agree", "agreed", "ranks_here", "several_ranks", "share"]

PATIENCE_VARIABLE: Final = "PYTRITON_TUNE_PATIENCE"

_PATIENCE: Final = 60.0  # seconds: as long as a large lot compiles
_GLANCE: Final = 0.02  # seconds between two looks into the store

_distributed: Final[Any] = torch.distributed


def several_ranks() -> bool:
    """Whether this process is one of several."""
    return bool(
        _distributed.is_available() and _distributed.is_initialized() and _distributed.get_world_size() > 1
    )


def ranks_here() -> int:
    """How many processes there are."""
    return int(_distributed.get_world_size()) if several_ranks() else 1


def share(name: str, count: int, run: Callable[[int], str]) -> list[str]:
    """The results of so many jobs, run by all ranks that ask for the same ``name``."""
    results: dict[int, str] = {}
    try:
        _run_with_others(f"pytriton/{name}", count, run, results)
    except _StoreLostError as error:
        warn_once(f"pytriton cannot share its tuning with the other ranks: {error.__cause__}")
    return [results[at] if at in results else run(at) for at in range(count)]


def _run_with_others(name: str, count: int, run: Callable[[int], str], results: dict[int, str]) -> None:
    def do(at: int) -> None:
        results[at] = run(at)
        _asked_of_store("set", f"{name}/{at}", results[at])

    while (at := _asked_of_store("add", f"{name}/taken", 1) - 1) < count:
        do(at)
    patience = float(os.environ.get(PATIENCE_VARIABLE, "") or _PATIENCE)
    for at in range(count):
        until = time.monotonic() + patience
        while at not in results:
            if _asked_of_store("check", [f"{name}/{at}"]):
                results[at] = bytes(_asked_of_store("get", f"{name}/{at}")).decode()
            elif time.monotonic() > until:
                do(at)  # whoever took it has ended, or is stuck
            else:
                time.sleep(_GLANCE)


class _StoreLostError(Exception):
    """The store does not answer: the rank that keeps it has ended."""


def _asked_of_store(operation: str, *arguments: Any) -> Any:
    try:
        return getattr(_distributed.distributed_c10d._get_default_store(), operation)(*arguments)
    except (RuntimeError, ValueError) as error:
        raise _StoreLostError from error


def agreed(question: Question, points: Iterable[Config]) -> Config | None:
    """What another rank has chosen already; None where nobody has, or there is one rank only."""
    return _asked(question, points, None)


def agree(question: Question, points: Iterable[Config], choice: Config) -> Config:
    """The choice of all ranks: this one, if no other rank was faster."""
    return _asked(question, points, choice) or choice


def _asked(question: Question, points: Iterable[Config], choice: Config | None) -> Config | None:
    if not several_ranks():
        return None
    named = {repr(point): point for point in points}
    key = _key(question, named)
    try:
        if choice is not None:
            # Sets it if nothing is there, in one step, and gives what is there then.
            answer = _asked_of_store("compare_set", key, "", repr(choice))
        else:
            answer = _asked_of_store("get", key) if _asked_of_store("check", [key]) else b""
    except _StoreLostError as error:
        warn_once(f"pytriton cannot ask the other ranks what they chose: {error.__cause__}")
        return None
    return named.get(bytes(answer).decode())


def _key(question: Question, named: Iterable[str]) -> str:
    """The same on all ranks: neither the GPU's name nor the alignment of a rank's tensors is part of it."""
    parts = [question.kernel, question.text, dict(question.fixed), dict(question.arguments), sorted(named)]
    return f"pytriton/{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()}"
