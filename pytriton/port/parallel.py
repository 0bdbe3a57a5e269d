"""The same work on many texts, on all processors.

Each text is translated hundreds of times in pure Python, so threads would not help. Child processes are forked:
they have the texts already, and only results travel back. Where that cannot be done (no ``fork``, other threads
are running, one text only) the work is done here.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

__all__ = ["each"]

Item = TypeVar("Item")
Made = TypeVar("Made")

_work: Final[list[Any]] = []  # the function and the items, for children to find


def each(function: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """``[function(one) for one in items]``; results must be picklable."""
    count = min(len(items), len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if count < 2 or not forks:
        return [function(item) for item in items]
    _work[:] = [function, items]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside native threads
            with multiprocessing.get_context("fork").Pool(count) as pool:
                return list(pool.imap(_one, range(len(items)), chunksize=1))
    finally:
        _work.clear()


def _one(number: int) -> Any:
    function, items = _work
    return function(items[number])
