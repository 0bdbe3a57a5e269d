"""Where in the user's code are we? For the origin of a source string, and for warnings."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

__all__ = ["caller", "warn", "warn_once"]

_PACKAGE: Final = str(Path(__file__).resolve().parents[1]) + os.sep
_told: Final[set[str]] = set()


def caller() -> tuple[str, int]:
    """File and line of the innermost frame outside this package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not os.path.realpath(path).startswith(_PACKAGE):
            return path, frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 1


def warn(message: str) -> None:
    """A RuntimeWarning that points at the user's line."""
    path, line = caller()
    warnings.warn_explicit(message, RuntimeWarning, path, line)


def warn_once(message: str) -> None:
    """The same, once a process for each message."""
    if message not in _told:
        _told.add(message)
        warn(message)
