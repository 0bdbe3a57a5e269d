"""Python's garbage collector waits while a text is translated.

A long kernel is a million records that all live until its module is printed. The collector looks through them
again and again as their number grows, and finds nothing: a sixth to a third of the time that a long text takes,
more where torch is loaded and there is more to look through. What a translation holds is bounded by the length of
a text, and counting references frees all of it (tests/test_growth.py): nothing is left for the collector.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Translations:
    """How many run, in all threads, and whether the collector was on when the first of them began."""

    lock = threading.Lock()
    running = 0
    was_on = False


@contextmanager
def not_collecting() -> Iterator[None]:
    """Inside, the collector does not run; after the last of several threads it is as it was before the first."""
    with _Translations.lock:
        if not _Translations.running:
            _Translations.was_on = gc.isenabled()
            gc.disable()
        _Translations.running += 1
    try:
        yield
    finally:
        with _Translations.lock:
            _Translations.running -= 1
            if not _Translations.running and _Translations.was_on:
                gc.enable()


def _after_fork_in_child() -> None:
    """The threads that translated did not come along."""
    _Translations.lock = threading.Lock()
    if _Translations.running and _Translations.was_on:
        gc.enable()
    _Translations.running = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
