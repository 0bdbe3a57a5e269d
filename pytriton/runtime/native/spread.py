"""The programs of a launch, spread over threads.

Input: how many programs there are, and a call that runs those from a first to a last one (exclusive). Output: all
of them ran, each once, taken in order; or the first error of a thread, Ctrl-C among them: then no thread uses the
caller's memory any more, either. Chunks grow while they are short and shrink toward the end, so that all threads
end together. A launch that takes long has a bar. Programs that take turns, one after another, are chunks of their
own, and none runs on the caller's thread, which so can be interrupted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from pytriton.progress import bar
from pytriton.runtime.locks import Lock

MAX_OWN_STACK: Final = 1 << 18  # bytes of arrays for which the caller's own thread is large enough
CHUNK: Final = 0.01  # seconds: from here on a chunk is not enlarged
UNSHOWN: Final = 2.0  # seconds before there is a bar
INTERRUPTIBLE: Final = 0.1  # seconds after which a caller who waits sees Ctrl-C, whichever thread got it
_SPARE_STACK: Final = 1 << 20
_PAGE: Final = 1 << 16

_starting: Final = Lock()  # the size of a stack is one for all threads that start


def spread(
    call: Callable[[int, int], None],
    kernel: str,
    total: int,
    threads: int,
    stack_bytes: int,
    end_turns: Callable[[], None] | None = None,
) -> None:
    """Run all programs. ``stack_bytes``: of the arrays of a program; ``kernel``: what the bar calls them.
    ``end_turns``: for programs that take turns, ends those that wait for theirs."""
    chunks = _Chunks(call, kernel, total, threads, end_turns)
    is_small = stack_bytes <= MAX_OWN_STACK and end_turns is None
    try:
        _start(chunks.work, threads - is_small, stack_bytes)
        if is_small:
            chunks.work()
        chunks.finish()
    finally:
        chunks.stop()


def _start(work: Callable[[], None], number: int, stack_bytes: int) -> None:
    """Threads with a stack of that size and some more."""
    if number == 0:
        return
    with _starting:
        before = threading.stack_size((stack_bytes + _SPARE_STACK + _PAGE - 1) // _PAGE * _PAGE)
        try:
            for _ in range(number):
                threading.Thread(target=work, daemon=True).start()
        finally:
            threading.stack_size(before)


class _Chunks:
    """What is left of a launch."""

    def __init__(
        self,
        call: Callable[[int, int], None],
        kernel: str,
        total: int,
        threads: int,
        end_turns: Callable[[], None] | None,
    ) -> None:
        self._call, self._kernel, self._end_turns = call, kernel, end_turns
        self._grows = end_turns is None or threads == 1
        self._next, self._end, self._parts = 0, total, 2 * threads
        self._busy: set[int] = set()  # threads that took a chunk and have not ended
        self._error: BaseException | None = None
        self._changed = threading.Condition()
        self._start, self._bar = time.perf_counter(), None

    def work(self) -> None:
        """Run chunks until none is left: for each of the threads."""
        size = 1
        try:
            while True:
                start = time.perf_counter()
                first, last = self._taken(size, start - self._start)
                if first == last:
                    return
                self._call(first, last)
                grows = self._grows and time.perf_counter() - start < CHUNK
                size = (last - first) * (2 if grows else 1)
        except BaseException as error:
            self._error = self._error or error
            self._give_up()
        finally:
            with self._changed:
                self._busy.discard(threading.get_ident())
                self._changed.notify_all()

    def _give_up(self) -> None:
        self._end = 0
        if self._end_turns is not None:
            self._end_turns()

    def _taken(self, size: int, seconds: float) -> tuple[int, int]:
        """The next chunk, of that size at most; ``seconds``: since the launch began."""
        with self._changed:
            first, rest = self._next, max(0, self._end - self._next)
            self._next += min(size, -(-rest // self._parts))
            self._busy.add(threading.get_ident())
            if seconds > UNSHOWN:
                self._bar = self._bar or bar(f"{self._kernel} on the CPU", self._end)
            if self._bar:
                self._bar.update(self._next - self._bar.n)
            return first, self._next

    def finish(self) -> None:
        """Wait until all programs ran; raises the error of a thread."""
        with self._changed:
            while not (self._next >= self._end and not self._busy):
                self._changed.wait(INTERRUPTIBLE)
        if self._error:
            raise self._error

    def stop(self) -> None:
        """Wait until no thread runs programs, without beginning others."""
        self._give_up()
        with self._changed:
            self._changed.wait_for(lambda: not self._busy)
        if self._bar:
            self._bar.close()
