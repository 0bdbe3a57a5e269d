"""Threads in tests: work that many do at once, and what a thread holds while the test goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from tests.work import PATIENCE

__all__ = ["held", "in_threads"]


def in_threads(work: Callable[[Any], object], given: Iterable[Any]) -> None:
    """``work(each)`` in a thread for each of those given, all at the same moment.

    Raises what the first of them raised; a thread that hangs fails.
    """
    given = list(given)
    start = threading.Barrier(len(given))
    wrong: list[BaseException] = []

    def run(each: Any) -> None:
        try:
            start.wait(PATIENCE)
            work(each)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(each,), daemon=True) for each in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    if wrong:
        raise wrong[0]
    assert not any(thread.is_alive() for thread in threads), "a thread hangs"


@contextmanager
def held(*contexts: AbstractContextManager[Any]) -> Iterator[threading.Event]:
    """Another thread is inside the contexts, locks for example; it leaves at the end, or once the event is set."""
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context)
            inside.set()
            leave.wait(PATIENCE)

    thread = threading.Thread(target=hold, daemon=True)
    thread.start()
    assert inside.wait(PATIENCE)
    try:
        yield leave
    finally:
        leave.set()
        thread.join(PATIENCE)
    assert not thread.is_alive()
