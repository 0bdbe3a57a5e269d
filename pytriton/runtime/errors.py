"""How the runtime says no: one line that names the thing, a stable code, the cure; and whose line it was.

The codes (each has a page in ``docs/``)::

    TC501  too few or too many arguments          TC511  a grid of the wrong kind
    TC502  a tensor of the wrong dtype            TC512  a negative or oversized grid
    TC503  tensors on different devices           TC513  a define that is no number, text or dtype
    TC504  no number for a scalar                 TC514  a define that the options object lacks
    TC505  no tensor or address for a pointer     TC515  wrong use of the constructor or of a call
    TC506  a number that C could not hold         TC516  a name in autotune_key that nobody knows
    TC507  a fraction for an integer              TC517  num_warps or num_stages out of range
    TC508  a broken __multipleof, if strict       TC518  an unknown target or assembly mode
    TC509  a broken __aligned, if strict          TC519  a constant buffer that is unknown or too small
    TC510  a tensor without memory                TC520  a cache directory that others can write
    TC522  a pickled kernel of another version    TC521  generated code that the gate refused (a bug of ours)
    TC523  CUDA in a forked child
    TC524  a written leaf that wants a gradient   TC525  torch's lazy negative or conjugate bit
    TC526  (warning) gradients that stop          TC527  (warning) strides that nobody passed
    TC528  (warning) a define that may be misspelled
    TC530  generated code that Triton refused     TC531  a kernel that does not fit the device
    TC532  a failure while the interpreter ran    TC540  what can be no operator
    TC541  a write that the schema does not show  TC542  a result that shares memory
    TC543  what torch.compile cannot follow       TC544  an override that cannot be
    TC545  a write that depends on hidden defines
    TC550  a store outside a tensor               TC551  (warning) a load outside a tensor
    TC552  (warning) a __noalias that is false    TC553  a race of two programs
    TC554  a race within a block; a note          TC555  a program that waits for ever
    TC601  a sweep of which no candidate is left
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

from pytriton.errors import LaunchError

__all__ = ["LEGACY_MARK", "caller", "from_legacy", "headline", "refusal", "warn", "warn_once"]


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
_told: Final[set[str]] = set()

LEGACY_MARK: Final = "__pytriton_legacy__"
"""A name in the ``__builtins__`` of the modules of legacy packages, as legacy/imports.py makes them."""


def caller() -> tuple[str, int]:
    """File and line of the innermost frame outside this package."""
    frame = _outside()
    return ("<unknown>", 1) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def from_legacy() -> bool:
    """Whether that frame runs a module of a legacy package (legacy/imports.py)."""
    frame = _outside()
    return frame is not None and LEGACY_MARK in frame.f_builtins


def _outside() -> FrameType | None:
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_ours(path: str) -> bool:
    """Whether it is a file of this package, or the name of code that was generated for a call."""
    return path.startswith("<pytriton") or os.path.realpath(path).startswith(_PACKAGE)


def warn(message: str) -> None:
    """A RuntimeWarning that points at the user's line."""
    path, line = caller()
    warnings.warn_explicit(message, RuntimeWarning, path, line)


def warn_once(message: str) -> None:
    """The same, once a process for each message."""
    if message not in _told:
        _told.add(message)
        warn(message)
