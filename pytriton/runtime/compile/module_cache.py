"""The private directory in which generated modules lie as files, and what tuning found.

Triton reads a function's text from its file, debuggers and profilers show it, and users open it. What is
*run* is the text in memory, never what the file holds: a file that was tampered with is overwritten and
changes nothing. Even so the directory must be ours alone: it is made with mode 0700, and one that is a link,
that another user owns or that others can write is refused. Nothing is ever unpickled.

Files are named by content and replaced atomically, so that processes may share the
directory, be killed at any moment and find the disk full: what cannot be written here is written to a
private directory under the temporary one, and what cannot be written there is not written at all. No
failure of a disk stops a kernel.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from platformdirs import user_cache_path

from pytriton.errors import LaunchError
from pytriton.runtime.errors import refusal, warn
from pytriton.runtime.locks import Lock

# One file, replaced as a whole: a reader sees the old content or the new, whenever the writer is killed.
#
# The content is written to a temporary file beside it, which then takes its name. A writer that is killed leaves
# its temporary file; the next process that writes to the directory removes it. Whether its writer lives is known
# by a lock on the file, which the system drops with the process: no clock and no process number is trusted. Where
# a file system knows no locks, a day's age decides; a writer whose file was taken away too early simply writes it
# again.


try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


Result = TypeVar("Result")

_PREFIX: Final = ".writing-"
_DAY: Final = 86400.0  # seconds
_PAUSES: Final = (0.001, 0.004, 0.016)  # seconds
MAX_LINE_BYTES: Final = 1 << 16
# What may be gone a moment later: our temporary file was removed, a server moved or was busy, a signal came.
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
        _lock_file(file.fileno(), wait=True)
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
            _lock_file(handle)
            file.write(content)
            file.flush()
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _lock_file(handle: int, wait: bool = False) -> bool | None:
    """Lock an open file until it is closed; False if another process has it, None where there are no locks."""
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
        locked = _lock_file(handle)
        aged = abs(time.time() - os.fstat(handle).st_mtime) > _DAY
        if locked or (locked is None and aged):
            os.unlink(path)
    finally:
        os.close(handle)


DIRECTORY_VARIABLE: Final = "PYTRITON_CACHE_DIR"

_lock: Final = Lock()
_stand_ins: dict[Path, Path] = {}  # a directory that cannot be written -> the private one used instead


def module_name(function: str, text: str) -> str:
    """The name of a generated module: its function and a prefix of its content's SHA-256."""
    return f"{function}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def directory() -> Path:
    """The directory for modules, made and checked; raises LaunchError if others could write to it.

    Where it cannot be made or written (a read-only home), a private temporary directory serves for the rest
    of the process, with one warning.
    """
    wanted = _wanted()
    stand_in = _stand_ins.get(wanted)
    if stand_in is not None:
        return stand_in
    try:
        _make_private(wanted)
    except OSError as error:
        return _stand_in_for(wanted, error)
    return wanted


def store(function: str, text: str) -> Path:
    """Write a module's text under its content's name, unless it is there already; the path.

    Where no directory can be written there is no file at that path; the module runs all the same.
    """
    return store_bytes(f"{module_name(function, text)}.py", text.encode())


def store_bytes(name: str, content: bytes) -> Path:
    """Write a file of that name, unless it is there with this content; the path. Never raises OSError."""
    place = directory()
    try:
        return replace_file(place / name, content)
    except OSError as error:
        place = _stand_in_for(place, error)
    try:
        return replace_file(place / name, content)
    except OSError:
        return place / name


def load_bytes(name: str, largest: int) -> bytes | None:
    """What a file of that name holds; None where there is none, and where it is larger or cannot be read."""
    return read_bytes(directory() / name, largest)


_CURE: Final = f"chmod 700 it, or name another directory in {DIRECTORY_VARIABLE}"


def _wanted() -> Path:
    """The directory as the user or the system names it; not absolute where it cannot be known."""
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    if not chosen:
        return user_cache_path("pytriton")  # relative where there is no home
    try:
        return Path(os.path.abspath(chosen))
    except OSError:  # the current directory is gone
        return Path(chosen)


def _make_private(place: Path) -> None:
    """Make the directory; raises LaunchError if it is not ours alone, OSError if it cannot be used."""
    if not place.is_absolute():
        raise OSError(errno.ENOENT, "there is no home directory")
    if place.is_symlink():
        target = os.path.realpath(place)
        raise refusal(
            f"the cache directory {place} is a link to {target}",
            "TC520",
            f"set {DIRECTORY_VARIABLE}={target}, or remove the link",
        )
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise refusal(f"{place} is not a directory", "TC520", _CURE) from None
    _check_private(place)
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it is read-only")


def _check_private(place: Path) -> None:
    """Refuse a directory that belongs to another user or that others can write."""
    if not hasattr(os, "geteuid"):
        return  # no owners and modes here
    status = place.lstat()
    if status.st_uid != os.geteuid():
        raise refusal(f"the cache directory {place} belongs to another user", "TC520", _CURE)
    if not stat.S_ISDIR(status.st_mode):
        raise refusal(f"{place} is not a directory", "TC520", _CURE)
    if status.st_mode & 0o022:
        mode = stat.S_IMODE(status.st_mode)
        raise refusal(f"other users can write to the cache directory {place} ({mode:o})", "TC520", _CURE)


def _stand_in_for(place: Path, error: OSError) -> Path:
    """The directory used instead of one that failed, with a warning when it is first used."""
    with _lock:
        if place in _stand_ins.values():
            return place  # it failed too, and there is no third
        if place not in _stand_ins:
            _stand_ins[place] = _temporary()
            warn(
                f"pytriton cannot write to its cache directory {place} ({error.strerror or error}); "
                f"it uses {_stand_ins[place]}. Name another in {DIRECTORY_VARIABLE}."
            )
        return _stand_ins[place]


def _temporary() -> Path:
    """One directory a user under the temporary one, so that none is left behind by each process.

    If another user took that name, one of this process alone; it is left to the system to remove.
    """
    try:
        root = Path(tempfile.gettempdir())
    except OSError:
        return Path(os.sep, "nonexistent", "pytriton")  # nothing can be written anywhere
    place = root / f"pytriton-{os.geteuid() if hasattr(os, 'geteuid') else 'cache'}"
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        _check_private(place)
    except LaunchError:
        return Path(tempfile.mkdtemp(prefix="pytriton-"))
    except OSError:
        pass  # nothing can be written there
    return place
