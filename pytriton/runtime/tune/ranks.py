"""One choice for all ranks of ``torch.distributed``.

Ranks that tune for themselves may find other configs the fastest, and then their sums are rounded in another
order. So the rank that is done first puts its choice into the store of the process group, and all others take it;
those that come later measure nothing.

There is no collective, as a rank may never call a kernel that others tune: each rank tunes on its own GPU and waits
for none. What was chosen before ``init_process_group``, and what PYTRITON_REPLAY pins, stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from typing import Any, Final

import torch

from pytriton.runtime.errors import warn_once
from pytriton.runtime.options.defines import Config
from pytriton.runtime.tune.record import Question

_distributed: Final[Any] = torch.distributed


def several_ranks() -> bool:
    """Whether this process is one of several."""
    return bool(
        _distributed.is_available() and _distributed.is_initialized() and _distributed.get_world_size() > 1
    )


def agreed(question: Question, points: Iterable[Config], choice: Config | None = None) -> Config | None:
    """What the first rank chose: ``choice``, if no other rank was faster. Unchanged
    where there is one rank, or the store does not answer."""
    if not several_ranks():
        return choice
    if os.environ.get("PYTRITON_TUNE_PATIENCE"):
        warn_once("PYTRITON_TUNE_PATIENCE has no effect: no rank waits for measurements of another; unset it")
    named = {repr(point): point for point in points}
    key = _key(question, named)
    try:
        store = _distributed.distributed_c10d._get_default_store()
        if choice is not None:
            # Sets it if nothing is there, in one step, and gives what is there then.
            answer = store.compare_set(key, "", repr(choice))
        else:
            answer = store.get(key) if store.check([key]) else b""
    except (RuntimeError, ValueError) as error:  # the rank that keeps the store has ended
        warn_once(f"pytriton cannot ask the other ranks what they chose: {error}")
        return choice
    return named.get(bytes(answer).decode(), choice)


def _key(question: Question, named: Iterable[str]) -> str:
    """The same on all ranks: neither the GPU's name nor the alignment of a rank's tensors is part of it."""
    parts = [question.kernel, question.text, dict(question.fixed), dict(question.arguments), sorted(named)]
    return f"pytriton/{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()}"
