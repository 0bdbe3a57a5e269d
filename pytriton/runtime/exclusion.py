"""One lock with two sides: compiling (many threads at once) and interpreting (one, alone).

Triton's interpreter replaces functions of ``triton.language`` while it runs a kernel, for the whole process.
Whoever compiles meanwhile in another thread would get the interpreter's functions into the compiler.
"""

from __future__ import annotations

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
        _changed.wait_for(lambda: _interpreter is None)
        _compilers += 1
    try:
        yield
    finally:
        with _changed:
            _compilers -= 1
            _changed.notify_all()


@contextmanager
def interpreting() -> Iterator[None]:
    """While the body runs, no other thread interprets or compiles. One thread may enter twice."""
    global _interpreter, _depth
    me = threading.get_ident()
    with _changed:
        _changed.wait_for(lambda: _interpreter == me or (_interpreter is None and not _compilers))
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
