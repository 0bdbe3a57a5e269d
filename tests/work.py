"""Work, counted in calls of functions, Python's and C's: the same on a loaded machine as on an idle one.

What grows too fast calls too much, and Python's own profiler counts that at three times the cost. A loop that calls
nothing (a regular expression that begins again and again, ``in`` on a long list) is not seen; where such a loop is
quadratic in a long text, it ends at the watchdog, which is for what hangs.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from types import FrameType
from typing import Final, TypeVar

__all__ = ["PATIENCE", "counted"]

PATIENCE: Final = 300.0  # seconds after which something hangs; nothing that ends takes a tenth of that

Result = TypeVar("Result")


def counted(work: Callable[[], Result]) -> tuple[int, Result]:
    """How many calls the work makes, and its result."""
    profile = Profile()
    with _watchdog():
        result = profile.runcall(work)
    return sum(entry.callcount for entry in profile.getstats()), result


@contextmanager
def _watchdog() -> Iterator[None]:
    """Raises in what takes that much of the processor."""
    before = signal.signal(signal.SIGPROF, _bark)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _bark(number: int, frame: FrameType | None) -> None:
    raise AssertionError(f"hangs: no end after {PATIENCE:.0f} s of processor time")
