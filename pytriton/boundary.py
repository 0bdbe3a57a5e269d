"""Hides internal frames from user errors: their traceback ends at the user's call.

Internal frames are of no use to the user. At each entry the error is raised once more
without them, from a frame that pytest and IPython leave out (``__tracebackhide__``); where Python itself prints the
traceback, a hook leaves that frame out, too. Errors whose cause is in pytriton keep all their frames, and so does
every error under ``PYTRITON_TRACEBACK=full``. The error as it was found is the ``__context__`` of what is raised.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

from pytriton.errors import PytritonError

TRACEBACK_VARIABLE: Final = "PYTRITON_TRACEBACK"

_OURS: Final = ("TC521", "TC530", "TC532")  # generated code that cannot be used: bugs of pytriton
_HIDDEN: Final = "__tracebackhide__"

_P = ParamSpec("_P")
_R = TypeVar("_R")


def entry(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """The function as users call it."""

    @functools.wraps(function)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except PytritonError as error:
            if not is_mistake(error):
                raise
            raise without_frames(error) from None
        except FileNotFoundError as error:  # a path that the user gave
            raise error.with_traceback(None) from None

    return called


def is_mistake(error: PytritonError) -> bool:
    """Whether the cause of an error is in the user's code, unless all frames are wanted."""
    return os.environ.get(TRACEBACK_VARIABLE) != "full" and error.code not in _OURS


def without_frames(error: PytritonError) -> PytritonError:
    """The same error with nothing of how it was found; that is kept with the one that is given."""
    shown = type(error).__new__(type(error), *error.args)  # a copy would render its diagnostics anew
    shown.__dict__.update(error.__dict__)
    _hide_in_tracebacks()
    return shown


def _hide_in_tracebacks() -> None:
    """Let Python print tracebacks of our errors without their last frames, if those are hidden."""
    before = sys.excepthook
    if getattr(before, "hides_pytriton", False):
        return

    def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> Any:
        if isinstance(error, PytritonError):
            _cut(traceback)
        before(kind, error, traceback)

    excepthook.hides_pytriton = True  # type: ignore[attr-defined]
    sys.excepthook = excepthook


def _cut(traceback: TracebackType | None) -> None:
    """Drop the hidden frames at the end of a traceback."""
    last = None
    while traceback is not None:
        if last is None or not traceback.tb_frame.f_locals.get(_HIDDEN):
            last = traceback
        traceback = traceback.tb_next
    if last is not None:
        last.tb_next = None
