"""One file, replaced as a whole: a reader sees the old content or the new, whenever the writer is killed.

The content is written to a temporary file beside it, which then takes its name. A writer that is killed
leaves its temporary file; the next process that writes to the directory removes it. Whether its writer
lives is told by a lock on the file, which the system drops with the process: no clock and no process number
is trusted. Where a file system knows no locks, a day's age decides; a writer whose file was taken away too
early simply writes it again.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

__all__ = ["append_line", "insisting", "read_bytes", "replace_file"]

Result = TypeVar("Result")

_PREFIX: Final = ".writing-"
_DAY: Final = 86400.0  # seconds
_PAUSES: Final = (0.001, 0.004, 0.016)  # seconds
MAX_LINE_BYTES: Final = 1 << 16
# What may be gone a moment later: somebody removed our temporary file, a server moved or was busy, a signal came.
_PASSING: Final = frozenset(
    {errno.ENOENT, errno.EBUSY, errno.ESTALE, errno.EINTR, errno.EAGAIN, errno.ETXTBSY}
)

_cleaned: set[tuple[int, Path]] = set()  # process and directory


def read_bytes(path: Path, largest: int) -> bytes | None:
    """What a file holds; None for one that cannot be read or has more than ``largest`` bytes."""
    try:
        with open(path, "rb") as file:
            content = file.read(largest + 1)
    except OSError:
        return None
    return content if len(content) <= largest else None


def replace_file(path: Path, content: bytes) -> Path:
    """Make a file hold this content; raises OSError where that cannot be done."""

    def replace() -> Path:
        if read_bytes(path, len(content)) != content or path.is_symlink():
            _clean_once(path.parent)
            _replace(path, content)
        return path

    return insisting(replace)


def append_line(path: Path, line: bytes, is_whole: Callable[[bytes], bool]) -> None:
    """Add a line to a file that processes share; raises OSError where that cannot be done.

    A writer that was killed, or that found the disk full, may have left a last line without its end. It is
    cut off, unless it ``is_whole``: then a person wrote it.
    """
    insisting(lambda: _append_line(path, line, is_whole))


def insisting(attempt: Callable[[], Result]) -> Result:
    """What an attempt gives; it is repeated after errors that may be gone a moment later."""
    for pause in _PAUSES:
        try:
            return attempt()
        except OSError as error:
            if error.errno not in _PASSING:
                raise
            time.sleep(pause)
    return attempt()


def _append_line(path: Path, line: bytes, is_whole: Callable[[bytes], bool]) -> None:
    with open(path, "a+b", buffering=0) as file:
        _lock(file.fileno(), wait=True)
        end = file.seek(0, os.SEEK_END)
        start = max(0, end - MAX_LINE_BYTES)
        file.seek(start)
        tail = (file.read(MAX_LINE_BYTES) or b"").rpartition(b"\n")[2]
        if tail and is_whole(tail):
            line = b"\n" + line
        elif tail:
            end -= len(tail)
            file.truncate(end)
        if file.write(line) != len(line):
            file.truncate(end)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _replace(path: Path, content: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=_PREFIX, suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            _lock(handle)
            file.write(content)
            file.flush()
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _lock(handle: int, wait: bool = False) -> bool | None:
    """Lock an open file until it is closed; False if somebody else has it, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        return False if error.errno == errno.EWOULDBLOCK else None
    return True


def _clean_once(place: Path) -> None:
    """Remove what killed writers left, once a process and directory."""
    key = (os.getpid(), place)
    if key in _cleaned:
        return
    _cleaned.add(key)
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX):
                with contextlib.suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    try:
        locked = _lock(handle)
        aged = abs(time.time() - os.fstat(handle).st_mtime) > _DAY
        if locked or (locked is None and aged):
            os.unlink(path)
    finally:
        os.close(handle)
