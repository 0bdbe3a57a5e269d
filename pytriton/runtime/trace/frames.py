"""Inside an operator: records what a kernel call writes, and decides whether anything is launched.

The schema of an operator declares which arguments it writes; torch orders, copies and caches by it, so an
undeclared write would be a silent wrong result. While the body of an operator runs, its thread holds
a ``Frame``, a list to which ``Kernel.__call__`` adds the arguments through which it writes. The operator
compares them with its schema. In a frame of ``Shapes`` the body runs on fake tensors, to learn the shapes of
its results, and nothing is launched.

A body that starts a thread launches there without a frame. While a body is recorded, for its gradient or for a
tracer, launches of other threads are therefore kept in its ``Elsewhere``, and it is refused if one concerned it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

Frame = list[Any]


class Noted(Frame):
    """A frame that is given each launch."""

    __slots__ = ()

    def note(self, kernel: Any, plan: Any, call: RequestedLaunch) -> None:
        """Called before a launch, with what the kernel has for such launches."""


class Shapes(Noted):
    """A frame in which launches are skipped."""

    __slots__ = ()


class RequestedLaunch(NamedTuple):
    """A launch as it was asked for."""

    arguments: tuple[Any, ...]
    grid: Any
    defines: Mapping[str, Any] | None
    num_warps: Any
    num_stages: Any


class _Thread(threading.local):
    frame: Frame | None = None


INSIDE: Final = _Thread()
"""The frame of the operator that this thread is running the body of; None outside."""


@contextmanager
def inside(frame: Frame | None) -> Iterator[Frame | None]:
    """While the body runs, this is the thread's frame; gives the one outside."""
    outer, INSIDE.frame = INSIDE.frame, frame
    try:
        yield outer
    finally:
        INSIDE.frame = outer


class Elsewhere:
    """What launches of other threads write while this one records the body of an operator."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self.written: list[Any] = []


RECORDED: Final[list[Elsewhere]] = []
"""The bodies that are recorded now, in all threads."""


@contextmanager
def recording_elsewhere() -> Iterator[Elsewhere]:
    """While a body is recorded."""
    elsewhere = Elsewhere()
    RECORDED.append(elsewhere)
    try:
        yield elsewhere
    finally:
        RECORDED.remove(elsewhere)


def note_elsewhere(written: Iterable[Any]) -> None:
    """Record a launch for the bodies that are recorded in other threads, unless this thread records one."""
    recorded, thread, tensors = tuple(RECORDED), threading.get_ident(), list(written)
    if all(recording.thread != thread for recording in recorded):
        for recording in recorded:
            recording.written += tensors


def unseen() -> Frame:
    """A frame for our own launches, which no schema mentions; where launches are skipped, these are too."""
    return INSIDE.frame if isinstance(INSIDE.frame, Shapes) else []
