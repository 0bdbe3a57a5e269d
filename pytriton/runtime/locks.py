"""What a forked child must not inherit: locks that are held, and what lies on GPUs.

``fork`` copies the memory of all threads, but only the thread that called it goes on. A lock that another
one held would stay locked in the child for ever. What our locks guard is always whole (an entry of a
dictionary is either there or not), so the child may simply start with fresh ones. And CUDA cannot be used
in a child if it was used before: a launch there would hang. So kernels that were loaded are forgotten, and
a call on a GPU is refused.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Final, Protocol

import torch

from pytriton.runtime.errors import refusal

__all__ = ["PARSING", "Lock", "Renewed", "check_not_forked", "renew_in_children"]


class Renewed(Protocol):
    """An object that forgets, in a forked child, what belongs to the parent."""

    def renew(self) -> None: ...


_all: Final[weakref.WeakSet[Renewed]] = weakref.WeakSet()


def renew_in_children(holder: Renewed) -> None:
    """Call its ``renew`` in each forked child, as long as it lives."""
    _all.add(holder)


def check_not_forked(kernel: str) -> None:
    """Raise LaunchError in a child that was forked after CUDA was used."""
    if torch.cuda._is_in_bad_fork():
        raise refusal(
            f"{kernel}: CUDA was used before this process was forked, so it cannot be used here",
            "TC523",
            "start workers with multiprocessing.get_context('spawn'), or fork before the first use of a GPU",
        )


class Lock:
    """A lock that one thread may take twice, for ``with``."""

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.RLock()
        renew_in_children(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def renew(self) -> None:
        """Open it, whoever holds it."""
        self._lock = threading.RLock()


# Held while Python parses: CPython 3.11 raises SystemError where two threads do it at once.
PARSING: Final = Lock()


def _renew_all() -> None:
    for holder in list(_all):
        holder.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
