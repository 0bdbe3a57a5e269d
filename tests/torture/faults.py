"""Errors at the border to the operating system, by a seeded plan.

``Faults(...).installed()`` replaces functions of ``os``, ``open`` and ``fcntl.flock`` by ones that fail now and
then, as long as the path lies under a root. A write may also end half-way: with an error, with the death of the
process, or with a lie (half the bytes are there, and no error is told).
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

ERRORS = ("ENOSPC", "EACCES", "EBUSY", "ESTALE", "EIO", "EDQUOT", "EROFS", "EMFILE", "EINTR")
FUNCTIONS = ("open", "replace", "unlink", "mkdir", "scandir", "stat", "lstat", "access", "fdopen", "fstat")


class Faults:
    """``rate`` is the share of calls that fail; ``counts`` what was injected."""

    def __init__(self, seed: int, root: str, rate: float, told: Callable[[str], None]) -> None:
        self._random = random.Random(seed)
        self._root = os.path.realpath(root)
        self._rate = rate
        self._told = told
        self.counts: Counter[str] = Counter()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """While the body runs, functions fail."""
        shift = self._random.choice([0.0, 0.0, -3e8, 3e8, 1e6])
        clock = time.time
        with (
            mock.patch.multiple(os, **{name: self._failing(name, getattr(os, name)) for name in FUNCTIONS}),
            mock.patch.object(builtins, "open", self._failing("open", builtins.open)),
            mock.patch.object(fcntl, "flock", self._flock(fcntl.flock)),
            mock.patch.object(time, "time", side_effect=lambda: clock() + shift),
        ):
            if shift:
                self._count("clock moved")
            yield

    def _count(self, what: str) -> None:
        self.counts[what] += 1
        self._told(what)

    def _concerns(self, given: Any) -> bool:
        if isinstance(given, int):
            try:
                given = os.readlink(f"/proc/self/fd/{given}")
            except OSError:
                return False
        return isinstance(given, (str, os.PathLike)) and os.fspath(given).startswith(self._root)

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if not given or not self._concerns(given[0]):
                return real(*given, **named)
            if self._random.random() < self._rate:
                code = self._random.choice(ERRORS)
                self._count(code)
                if name == "access":
                    return False
                raise OSError(getattr(errno, code), os.strerror(getattr(errno, code)))
            if name == "fdopen":
                return _Torn(real(*given, **named), self._tear())
            return real(*given, **named)

        return call

    def _tear(self) -> Callable[[Any, bytes], None] | None:
        """What the next write does instead of writing; None for writing."""
        if self._random.random() >= self._rate:
            return None
        kind = self._random.choice(["error", "death", "lie"])

        def tear(file: Any, content: bytes) -> None:
            self._count(f"torn write: {kind}")
            file.write(content[: len(content) // 2])
            file.flush()
            if kind == "death":
                os.kill(os.getpid(), signal.SIGKILL)
            if kind == "error":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        return tear

    def _flock(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(handle: Any, operation: int) -> Any:
            if self._random.random() < self._rate:
                self._count("ENOLCK")
                raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
            return real(handle, operation)

        return call


class _Torn:
    """A file whose first write may end half-way."""

    def __init__(self, file: Any, tear: Callable[[Any, bytes], None] | None) -> None:
        self._file, self._tear = file, tear

    def write(self, content: bytes) -> int:
        if self._tear is not None:
            self._tear(self._file, content)
        else:
            self._file.write(content)
        return len(content)

    def __enter__(self) -> _Torn:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)
