"""What a forked child must not inherit: locks that are held, and what lies on GPUs.

``fork`` copies the memory of all threads, but only the thread that called it goes on. A lock that another
one held would stay locked in the child forever. What our locks guard is always whole (an entry of a
dictionary is either there or not), so the child may simply start with fresh ones. And CUDA cannot be used
in a child if it was used before: a launch there would hang. So kernels that were loaded are forgotten, and
a call on a GPU is refused.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

import torch

from pytriton.compat.torch_names import used_before_fork
from pytriton.runtime.errors import refusal


class Renewed(Protocol):
    """An object that forgets, in a forked child, what belongs to the parent."""

    def renew(self) -> None: ...


_all: Final[weakref.WeakSet[Renewed]] = weakref.WeakSet()


def renew_in_children(holder: Renewed) -> None:
    """Call its ``renew`` in each forked child, as long as it lives."""
    _all.add(holder)


def check_not_forked(kernel: str) -> None:
    """Raise LaunchError in a child that was forked after CUDA was used."""
    if used_before_fork():
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
        """Release it, whichever thread holds it."""
        self._lock = threading.RLock()


# Held while Python parses: CPython 3.11 raises SystemError where two threads do it at once.
PARSING: Final = Lock()


def _renew_all() -> None:
    for holder in list(_all):
        holder.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)


# One lock with two sides: compiling (many threads at once) and interpreting (one, alone).
#
# Triton's interpreter replaces functions of ``triton.language`` while it runs a kernel, for the whole process.
# A thread that compiles meanwhile would get the interpreter's functions into the compiler. A process
# that is forked meanwhile would keep them forever, so ``fork`` waits, too. While Python shuts down no thread waits:
# the threads that one would wait for are dead.


_changed: Final = threading.Condition()
_compilers = 0
_interpreter: int | None = None  # the thread that interprets
_depth = 0


@contextmanager
def compiling() -> Iterator[None]:
    """While the body runs, no other thread interprets."""
    global _compilers
    with _changed:
        _changed.wait_for(lambda: _interpreter is None or sys.is_finalizing())
        _compilers += 1
    try:
        yield
    finally:
        with _changed:
            _compilers = max(0, _compilers - 1)  # 0 already, if this is a child that was forked meanwhile
            _changed.notify_all()


@contextmanager
def interpreting() -> Iterator[None]:
    """While the body runs, no other thread interprets or compiles. One thread may enter twice."""
    global _interpreter, _depth
    me = threading.get_ident()
    with _changed:
        _changed.wait_for(
            lambda: _interpreter == me or (_interpreter is None and not _compilers) or sys.is_finalizing()
        )
        _interpreter = me
        _depth += 1
    try:
        yield
    finally:
        with _changed:
            _depth -= 1
            if not _depth:
                _interpreter = None
                _changed.notify_all()


def _before_fork() -> None:
    _changed.acquire()
    _changed.wait_for(lambda: _interpreter in (None, threading.get_ident()))


def _after_fork_in_child() -> None:
    """Only this thread is left, and it does not compile."""
    global _compilers
    _compilers = 0
    _changed.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_changed.release, after_in_child=_after_fork_in_child
    )


def several_ranks() -> bool:
    """Whether this process is one of several of torch.distributed."""
    ranks: Any = torch.distributed
    return bool(ranks.is_available() and ranks.is_initialized() and ranks.get_world_size() > 1)
