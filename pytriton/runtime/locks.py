"""Locks that a forked child finds open.

``fork`` copies the memory of all threads, but only the thread that called it goes on. A lock that another
one held would stay locked in the child for ever. What our locks guard is always whole (an entry of a
dictionary is either there or not), so the child may simply start with fresh ones.
"""

from __future__ import annotations

import os
import threading
import weakref
from types import TracebackType
from typing import Final

__all__ = ["Lock"]


class Lock:
    """A lock that one thread may take twice, for ``with``."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Open it, whoever holds it."""
        self._lock = threading.RLock()


_all: Final[weakref.WeakSet[Lock]] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_all):
        lock.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
