"""Refusals and warnings of the runtime: what is wrong, a stable code, the cure; and the user's line.

docs/errors.md lists the codes (TC501 to TC605), each of which has a page.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

from pytriton.errors import Diagnostic, PytritonWarning
from pytriton.errors import refusal as refusal  # for all of runtime/

_PACKAGE: Final = str(Path(__file__).resolve().parents[1]) + os.sep
LOG: Final = logging.getLogger("pytriton")
"""What is compiled (debug), and what tuning chooses (info)."""

_warned: Final[set[object]] = set()

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


def remark(message: str, code: str, help: str | None = None) -> Diagnostic:
    """What to warn of at a call."""
    return Diagnostic("warning", code, message, None, (), help)


def warn(finding: Diagnostic) -> None:
    """A PytritonWarning that points at the user's line."""
    path, line = caller()
    warnings.warn_explicit(PytritonWarning(str(finding), (finding,)), None, path, line)


def warn_once(finding: Diagnostic, subject: object = None, warned: set[object] | None = None) -> None:
    """The same, once for each ``subject`` (None: the message) in ``warned`` (None: in this process)."""
    warned, subject = _warned if warned is None else warned, subject or str(finding)
    if subject not in warned:
        warned.add(subject)
        warn(finding)
