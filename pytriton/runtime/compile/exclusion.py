"""One lock with two sides: compiling (many threads at once) and interpreting (one, alone).

Triton's interpreter replaces functions of ``triton.language`` while it runs a kernel, for the whole
process. Whoever compiles meanwhile in another thread would get the interpreter's functions into the
compiler. A process that is forked meanwhile would keep them for ever, so ``fork`` waits, too. While Python
shuts down nobody waits: the threads that one would wait for are dead.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["compiling", "interpreting"]

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
    """Only this thread is left: nobody else compiles."""
    global _compilers
    _compilers = 0
    _changed.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_changed.release, after_in_child=_after_fork_in_child
    )
