"""The same work on many texts, on all processors.

Each text is translated hundreds of times in pure Python, so threads would not help. Child processes are forked:
they have the texts already, and only results travel back. Where that cannot be done (no ``fork``, other threads
are running, one text only) the work is done here.
"""

from __future__ import annotations

import copyreg
import multiprocessing
import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

__all__ = ["each"]

Item = TypeVar("Item")
Made = TypeVar("Made")

_work: Final[list[Any]] = []  # the function and the items, for children to find


def _proxy(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda proxy: (_proxy, (dict(proxy),)))  # translations have some


def each(function: Callable[[Item], Made], items: Sequence[Item]) -> Iterator[Made]:
    """``map(function, items)``; results must be picklable."""
    count = min(len(items), len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    forks = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    if count < 2 or not forks:
        yield from map(function, items)
        return
    _work[:] = [function, items]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside native threads
            with multiprocessing.get_context("fork").Pool(count) as pool:
                yield from pool.imap(_one, range(len(items)), chunksize=1)
    finally:
        _work.clear()


def _one(number: int) -> Any:
    function, items = _work
    return function(items[number])
