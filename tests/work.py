"""Work, counted in steps: the same on a loaded machine as on an idle one.

A step is a line of Python that runs, each time it does: each call and each iteration of a loop, of a
comprehension and of a generator takes one at least; of lark, only the calls. Counting makes work four times as
long. What C does inside of one step is not seen (a regular expression that begins again and again, ``in`` on a
long list); where that is quadratic in a long text, it ends at the watchdog, which is for what hangs.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

import lark

__all__ = ["PATIENCE", "counted"]

PATIENCE: Final = 300.0  # seconds after which something hangs; nothing that ends takes a tenth of that

LARK: Final = str(Path(lark.__file__).parent)

Result = TypeVar("Result")


def counted(work: Callable[[], Result], most: float = float("inf")) -> tuple[int, Result]:
    """How many steps the work takes, and its result. Raises AssertionError in what takes more than ``most``."""
    count = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        assert count <= most, f"more than {most:,} steps"
        return step if event != "call" or not frame.f_code.co_filename.startswith(LARK) else None

    before = sys.gettrace()
    with _watchdog():
        sys.settrace(step)
        try:
            result = work()
        finally:
            sys.settrace(before)
    assert count <= most
    return count, result


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
