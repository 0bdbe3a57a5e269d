"""Refusals and warnings of the runtime: what is wrong, a stable code, the cure; and the user's line.

docs/errors.md lists the codes (TC501 to TC603), each of which has a page.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

from pytriton.errors import LaunchError


def headline(message: str, code: str, help: str | None = None) -> str:
    """``message [code]``, and a ``help:`` line. A message of several lines has the code on its first."""
    first, *rest = message.split("\n")
    lines = [f"{first} [{code}]", *rest]
    if help:
        lines.append(f"help: {help}")
    return "\n".join(lines)


def refusal(message: str, code: str, help: str | None = None) -> LaunchError:
    """The error to raise for a wrong use of a kernel."""
    return LaunchError(headline(message, code, help))


_PACKAGE: Final = str(Path(__file__).resolve().parents[1]) + os.sep
_told: Final[set[object]] = set()

LEGACY_MARK: Final = "__pytriton_legacy__"
"""A name in the ``__builtins__`` of the modules of legacy packages, as legacy/imports.py makes them."""


def caller(*others: str) -> tuple[str, int]:
    """File and line of the innermost frame outside this package, and other folders."""
    frame = _outside(others)
    return ("<unknown>", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def from_legacy() -> bool:
    """Whether that frame runs a module of a legacy package (legacy/imports.py)."""
    frame = _outside()
    return frame is not None and LEGACY_MARK in frame.f_builtins


def _outside(others: tuple[str, ...] = ()) -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (
        _is_ours(frame.f_code.co_filename) or frame.f_code.co_filename.startswith(others)
    ):
        frame = frame.f_back
    return frame


def _is_ours(path: str) -> bool:
    """Whether it is a file of this package, or the name of code that was generated for a call."""
    return path.startswith("<pytriton") or os.path.realpath(path).startswith(_PACKAGE)


def warn(message: str) -> None:
    """A RuntimeWarning that points at the user's line."""
    path, line = caller()
    warnings.warn_explicit(message, RuntimeWarning, path, line)


def warn_once(message: str, subject: object = None, told: set[object] | None = None) -> None:
    """The same, once for each ``subject`` (None: the message) in ``told`` (None: in this process)."""
    known, subject = _told if told is None else told, subject or message
    if subject not in known:
        known.add(subject)
        warn(message)
